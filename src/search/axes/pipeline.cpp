#include "search/axis.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::search {

Axis axis_pipeline() {
  Axis a = axis_of<&Strategy::pipeline>("pipeline", "Ranks of a pipeline: each has some of the layers", 2, 2, 1);
  a.always = true;
  a.brief = "p";
  a.trainers = "Megatron-LM --pipeline-model-parallel-size, torchtitan pipeline_parallel_degree, DeepSpeed PipelineModule(num_stages)";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    const bool uneven = c.space.reach != Reach::calculon && !c.space.runnable;
    for (std::int64_t p = 1; p <= std::min(c.space.devices / s.tensor, c.sizes->model.layers); ++p) {
      if (c.space.devices % (s.tensor * p) == 0 && (uneven || c.sizes->model.layers % p == 0)) all.push_back(p);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.pipeline < 1) return broken("degree", fmt::format("p={}: a degree is 1 or more", s.pipeline));
    if (s.pipeline > f.model.layers) return broken("stages", fmt::format("p={} stages for {} layers", s.pipeline, f.model.layers));
    return Violation();
  };
  a.program = {.position = 30, .number = &Strategy::pipeline, .nesting = 20, .numbers_of_space = [](const SpaceFacts& f, const Strategy&) {
                 return divisors(f.space.devices, std::max<std::int64_t>(1, static_cast<std::int64_t>(f.layer_operations.size())));
               }};
  return a;
}

}  // namespace pando::search
