#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_tensor() {
  Axis a = axis_of<&Strategy::tensor>("tensor", "Devices that share each layer's matrices (tensor parallelism)", 1, 1, 1);
  a.always = true;
  a.brief = "t";
  a.trainers = "Megatron-LM --tensor-model-parallel-size, torchtitan tensor_parallel_degree";
  a.outside = "t that does not divide heads and widths (no trainer pads them)";
  a.domain = [](const SpaceFacts& c, const Strategy&, Values& all) {
    Values divisors;
    add_divisors(c.space.devices, divisors);
    for (std::int64_t t : divisors) {
      if (c.sizes->model.hidden % t == 0 && c.sizes->model.heads % t == 0) all.push_back(t);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.tensor < 1) return broken("degree", fmt::format("t={}: a degree is 1 or more", s.tensor));
    if (f.model.heads % s.tensor != 0) return broken("heads", fmt::format("{} heads do not divide over t={}", f.model.heads, s.tensor));
    if (f.model.hidden % s.tensor != 0 || f.model.ffn % s.tensor != 0)
      return broken("widths", fmt::format("hidden {} or ffn {} do not divide over t={}", f.model.hidden, f.model.ffn, s.tensor));
    return Violation();
  };
  a.program = {.position = 20, .number = &Strategy::tensor, .nesting = 10, .numbers_of_space = [](const SpaceFacts& f, const Strategy&) {
                 return divisors(f.space.devices);
               }};
  return a;
}

}  // namespace pando::search
