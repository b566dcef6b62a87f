#include "search/axis.h"

#include <fmt/format.h>
#include <algorithm>

namespace pando::search {

Axis axis_recompute_first() {
  Axis a = axis_of<&Strategy::recompute_first>("recompute-first",
                                               "Only so many layers of each stage, the first ones, compute again; 0: all", 10, 11, 0);
  a.trainers = "Megatron-LM --recompute-method block --recompute-num-layers";
  a.outside = "recompute-first (opened by --recompute-sets)";
  a.on_demand = true;
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    all.push_back(0);
    if (s.recompute == Recompute::none || c.space.recompute_sets == 0) return;
    // A few of many lie as far apart as can be.
    const std::int64_t most = most_layers_of(*c.sizes, s) - 1, n = std::min<std::int64_t>(most, c.space.recompute_sets);
    for (std::int64_t i = 1; i <= n; ++i) all.push_back(i * (most + 1) / (n + 1));
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    const auto no = [](std::string message) { return broken("recompute-first", std::move(message)); };
    if (s.recompute_first == 0) return Violation();
    if (s.recompute_first < 0) return no("a number of layers is expected; 0: all");
    if (s.recompute == Recompute::none)
      return no(fmt::format("{} layers of a stage are to be computed again, but recomputation is none", s.recompute_first));
    const std::int64_t most = most_layers_of(f, s);
    if (s.recompute_first < most) return Violation();
    return no(fmt::format("{} layers of a stage are to be computed again; a stage has {} (all of them: recompute={} alone)",
                          s.recompute_first, most, name_of(s.recompute)));
  };
  // The embedding is layer 0 of the program.
  a.apply = [](const StrategyFacts& f, const Strategy& s, Strategy& t) {
    const std::int64_t each = s.recompute_first > 0 ? f.model.layers / (s.pipeline * stages_of_rank(s)) : 0;
    for (std::int64_t l = 0; each > 0 && l < f.model.layers; ++l) {
      if (l % each < s.recompute_first) t.recomputed_layers.push_back(static_cast<std::uint32_t>(l + 1));
    }
  };
  return a;
}

}  // namespace pando::search
