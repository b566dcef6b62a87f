#include "search/axis.h"

namespace pando::search {

namespace {

std::int64_t most_of(const AxisContext& c, const Strategy& s) { return replicas_of(s) == 1 ? 0 : c.space.reach == Reach::calculon ? 1 : 3; }

}  // namespace

Axis axis_zero() {
  Axis a = axis_of<&Strategy::zero>("zero", "What data-parallel devices split: 1 the optimizer's states, 2 gradients, too, 3 weights, too",
                                    8, 30, 0);
  a.part = AxisPart::rest;
  a.trainers =
      "Megatron-LM --use-distributed-optimizer (1), --data-parallel-sharding-strategy; torchtitan fsdp_reshard_after_forward never (2), "
      "always "
      "(3); DeepSpeed zero_optimization.stage";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    for (std::int64_t zero = 0; zero <= most_of(c, s); ++zero) all.push_back(zero);
  };
  a.rule = [](const StrategyFacts&, const Strategy& s) {
    if (s.zero < 0 || s.zero > 3) return broken("zero", "ZeRO is 0, 1, 2 or 3");
    if (replicas_of(s) == 1 && s.zero > 0) return broken("data", "nothing to split at d=1");
    return Violation();
  };
  a.quickest = most_of;
  // Split weights are gathered somewhere: that may take more than it saves.
  a.thriftiest = [](const AxisContext& c, const Strategy& s, Values& all) {
    const std::int64_t most = most_of(c, s);
    all.push_back(most);
    if (most > 0) all.push_back(most - 1);
  };
  return a;
}

}  // namespace pando::search
