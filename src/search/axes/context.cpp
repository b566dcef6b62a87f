#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_context() {
  Axis a = axis_of<&Strategy::context>("context", "Devices that share each sample's positions (context parallelism)", 5, 3, 1);
  a.brief = "c";
  a.trainers = "Megatron-LM --context-parallel-size, torchtitan context_parallel_degree";
  a.outside = "c over 64 (published runs go to 64)";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    if (c.space.reach == Reach::calculon) return all.push_back(1);
    Values divisors;
    add_divisors(c.space.devices / s.tensor / s.pipeline, divisors);
    for (std::int64_t n : divisors) {
      if (n == 1 || (n <= 64 && c.sizes->model.seq % n == 0)) all.push_back(n);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.context < 1) return broken("degree", fmt::format("c={}: a degree is 1 or more", s.context));
    if (f.model.seq % s.context != 0) return broken("context", fmt::format("{} positions do not divide over c={}", f.model.seq, s.context));
    return Violation();
  };
  a.program = {.position = 50, .number = &Strategy::context, .nesting = 30, .numbers_of_space = [](const SpaceFacts& f, const Strategy&) {
                 return divisors(f.has_sequence ? f.space.devices : 1);
               }};
  return a;
}

}  // namespace pando::search
