#include "search/axis.h"

namespace pando::search {

namespace {

std::int64_t most_of(const SpaceFacts& c, const Strategy& s) { return replicas_of(s) == 1 ? 0 : c.space.reach == Reach::calculon ? 1 : 3; }

}  // namespace

Axis axis_zero() {
  Axis a = axis_of<&Strategy::zero>("zero", "What data-parallel devices split: 1 the optimizer's states, 2 gradients, too, 3 weights, too",
                                    8, 30, 0);
  a.part = AxisPart::rest;
  a.trainers =
      "Megatron-LM --use-distributed-optimizer (1), --data-parallel-sharding-strategy; torchtitan fsdp_reshard_after_forward never (2), "
      "always "
      "(3); DeepSpeed zero_optimization.stage";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    for (std::int64_t zero = 0; zero <= most_of(c, s); ++zero) all.push_back(zero);
  };
  a.rule = [](const StrategyFacts&, const Strategy& s) {
    if (s.zero < 0 || s.zero > 3) return broken("zero", "ZeRO is 0, 1, 2 or 3");
    if (replicas_of(s) == 1 && s.zero > 0) return broken("data", "nothing to split at d=1");
    return Violation();
  };
  a.quickest = most_of;
  // Split weights are gathered somewhere: that may take more than it saves.
  a.thriftiest = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    const std::int64_t most = most_of(c, s);
    all.push_back(most);
    if (most > 0) all.push_back(most - 1);
  };
  a.program = {.position = 80,
               .number = &Strategy::zero,
               .least = 0,
               .most = 3,
               .otherwise = 0,
               .nesting = 130,
               .inside_group = true,
               .numbers_of_space =
                   [](const SpaceFacts& f, const Strategy& s) {
                     return s.data > 1 && f.has_updates ? std::vector<std::int32_t>{0, 1, 2, 3} : std::vector<std::int32_t>{0};
                   },
               .doc = "ZeRO: 1 cuts states of the optimizer over --data, 2 gradients, 3 weights"};
  return a;
}

}  // namespace pando::search
