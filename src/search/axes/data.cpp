#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

namespace {

// What the other degrees leave.
std::vector<std::int32_t> data_degrees(const SpaceFacts& f, const Strategy& s) {
  const std::int64_t taken = std::int64_t{s.tensor} * s.pipeline * s.context * s.expert;
  if (f.space.devices % taken != 0) return {};
  return {static_cast<std::int32_t>(f.space.devices / taken)};
}

}  // namespace

Axis axis_data() {
  Axis a = axis_of<&Strategy::data>("data", "Replicas that share the batch (data parallelism)", 3, 4, 1);
  a.always = true;
  a.brief = "d";
  a.trainers =
      "what is left of the devices in Megatron-LM and DeepSpeed, torchtitan data_parallel_shard_degree and data_parallel_replicate_degree";
  a.outside = "d that does not divide the batch (trainers reject it)";
  // What the other degrees leave.
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    const std::int64_t d = c.space.devices / s.tensor / s.pipeline / s.context;
    if (c.sizes->batch % d == 0) all.push_back(d);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.data < 1) return broken("degree", fmt::format("d={}: a degree is 1 or more", s.data));
    if (f.batch % s.data != 0) return broken("batch", fmt::format("a batch of {} does not divide over d={}", f.batch, s.data));
    return Violation();
  };
  a.program = {.position = 10, .number = &Strategy::data, .nesting = 50, .numbers_of_space = data_degrees, .on_demand = false};
  return a;
}

}  // namespace pando::search
