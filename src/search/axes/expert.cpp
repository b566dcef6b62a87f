#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_expert() {
  Axis a = axis_of<&Strategy::expert_in_data>("expert", "Devices that share the experts (expert parallelism)", 6, 5, 1);
  a.brief = "e";
  a.trainers = "Megatron-LM --expert-model-parallel-size, torchtitan expert_parallel_degree, DeepSpeed ep_size";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    if (c.sizes->model.experts == 0) return all.push_back(1);
    Values divisors;
    add_divisors(c.sizes->model.experts, divisors);
    for (std::int64_t e : divisors) {
      if (replicas_of(s) % e == 0) all.push_back(e);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.expert_in_data < 1) return broken("degree", fmt::format("e={}: a degree is 1 or more", s.expert_in_data));
    if (s.expert_in_data == 1) return Violation();
    if (f.model.experts == 0)
      return broken("experts", fmt::format("e={} cuts nothing: {} has no experts", s.expert_in_data,
                                           f.model.name.empty() ? "the model" : f.model.name));
    if (f.model.experts % s.expert_in_data != 0 || replicas_of(s) % s.expert_in_data != 0)
      return broken("experts",
                    fmt::format("e={} must divide {} experts and d x c = {}", s.expert_in_data, f.model.experts, replicas_of(s)));
    return Violation();
  };
  a.missing = [](const Strategy& s) -> std::string_view {
    return s.expert_in_data > 1 && s.data % s.expert_in_data != 0 ? "experts on devices that share positions" : "";
  };
  a.apply = [](const StrategyFacts&, const Strategy& s, Strategy& t) { t.expert = s.expert_in_data, t.data = s.data / s.expert_in_data; };
  a.program = {.position = 40,
               .number = &Strategy::expert,
               .nesting = 40,
               .numbers_of_space = [](const SpaceFacts& f, const Strategy&) { return divisors(f.has_experts ? f.space.devices : 1); },
               .doc = "Devices that share experts, and samples"};
  return a;
}

}  // namespace pando::search
