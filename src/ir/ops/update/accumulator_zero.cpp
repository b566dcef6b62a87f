#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_accumulator_zero;
constexpr OpRow op_accumulator_zero = checked({
    .name = "accumulator_zero_",
    .doc = "Zeros, into t.",
    .signature = "accumulator_zero_(t: Tensor) -> Tensor",
    .module = "var_updates.accumulate",
    .operands = {{{"t", any_numeric}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) { e.result(e.fresh()); },
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {3, 4}, -2, 2, {}}};
      return std::vector{s};
    },
    .modifies = {{{0, 0}}},
    .popart_type = "AccumulatorScale",
    .subscripts = update_subscripts,
});

}  // namespace pando::ir
