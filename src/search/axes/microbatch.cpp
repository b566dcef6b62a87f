#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_microbatch() {
  Axis a = axis_of<&Strategy::microbatch>("microbatch", "Samples of a microbatch", 4, 7, 1);
  a.always = true;
  a.brief = "b";
  a.trainers = "Megatron-LM --micro-batch-size, DeepSpeed train_micro_batch_size_per_gpu, torchtitan num_tokens_per_microbatch_per_dp_rank";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    Values divisors;
    add_divisors(c.sizes->batch / s.data, divisors);
    const bool rounds = s.stages_per_rank > 1 && c.space.reach != Reach::calculon;
    for (std::int64_t b : divisors) {
      if (b * c.sizes->model.seq % s.tensor == 0 && !(rounds && c.sizes->batch / s.data / b % s.pipeline != 0)) all.push_back(b);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.microbatch < 1) return broken("degree", fmt::format("b={}: 1 or more is expected", s.microbatch));
    if (f.batch / s.data % s.microbatch != 0)
      return broken("microbatch",
                    fmt::format("{} samples a replica do not divide into microbatches of {}", f.batch / s.data, s.microbatch));
    return Violation();
  };
  a.apply = [](const StrategyFacts& f, const Strategy& s, Strategy& t) { t.microbatches = static_cast<std::int32_t>(f.microbatches(s)); };
  return a;
}

}  // namespace pando::search
