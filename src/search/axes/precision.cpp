#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_precision() {
  Axis a = axis_of<&Strategy::precision>("precision", "Element type of products with weights, but for the head's", 13, 13, 0);
  a.names = {"bf16", "fp8", "mxfp8"};
  a.trainers = "Megatron-LM --fp8-format with --fp8-recipe tensorwise or mxfp8, torchtitan's float8 and MX converters";
  a.domain = [](const SpaceFacts& c, const Strategy&, Values& all) {
    all.push_back(static_cast<std::int64_t>(Precision::bf16));
    if (c.space.reach == Reach::calculon || c.sizes->cluster.eight_bit_operations == 0) return;
    all.push_back(static_cast<std::int64_t>(Precision::fp8));
    if (c.sizes->cluster.block_scaled) all.push_back(static_cast<std::int64_t>(Precision::mxfp8));
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.precision != Precision::bf16 && f.cluster.eight_bit_operations == 0)
      return broken("precision", fmt::format("{} has no products in 8-bit floats", f.cluster.name));
    if (s.precision == Precision::mxfp8 && !f.cluster.block_scaled)
      return broken("precision", fmt::format("{} has no scales for blocks of 8-bit floats", f.cluster.name));
    return Violation();
  };
  a.missing = [](const Strategy& s) -> std::string_view { return s.precision != Precision::bf16 ? "products in 8-bit floats" : ""; };
  return a;
}

}  // namespace pando::search
