#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_expert() {
  Axis a = axis_of<&Strategy::expert>("e", "Devices that share the experts (expert parallelism)", 6, 5, 1);
  a.aliases = {"expert"};
  a.trainers = "Megatron-LM --expert-model-parallel-size, torchtitan expert_parallel_degree, DeepSpeed ep_size";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    if (c.model.experts == 0) return all.push_back(1);
    Values divisors;
    add_divisors(c.model.experts, divisors);
    for (std::int64_t e : divisors) {
      if (s.data * s.context % e == 0) all.push_back(e);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.expert < 1) return broken("degree", fmt::format("e={}: a degree is 1 or more", s.expert));
    if (s.expert == 1) return Violation();
    if (f.model.experts == 0)
      return broken("experts",
                    fmt::format("e={} cuts nothing: {} has no experts", s.expert, f.model.name.empty() ? "the model" : f.model.name));
    if (f.model.experts % s.expert != 0 || s.data * s.context % s.expert != 0)
      return broken("experts", fmt::format("e={} must divide {} experts and d x c = {}", s.expert, f.model.experts, s.data * s.context));
    return Violation();
  };
  a.apply = [](const Transformer&, const Strategy& s, transform::Strategy& t) { t.expert = static_cast<std::int32_t>(s.expert); };
  return a;
}

}  // namespace pando::search
