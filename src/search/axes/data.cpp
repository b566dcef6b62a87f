#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_data() {
  Axis a = axis_of<&Strategy::data>("d", "Replicas that share the batch (data parallelism)", 3, 4, 1);
  a.always = true;
  a.aliases = {"data"};
  a.trainers =
      "what is left of the devices in Megatron-LM and DeepSpeed, torchtitan data_parallel_shard_degree and data_parallel_replicate_degree";
  a.outside = "d that does not divide the batch (trainers refuse it)";
  // What the other degrees leave.
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    const std::int64_t d = c.space.devices / s.tensor / s.pipeline / s.context;
    if (c.batch % d == 0) all.push_back(d);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.data < 1) return broken("degree", fmt::format("d={}: a degree is 1 or more", s.data));
    if (f.batch % s.data != 0) return broken("batch", fmt::format("a batch of {} does not divide over d={}", f.batch, s.data));
    return Violation();
  };
  return a;
}

}  // namespace pando::search
