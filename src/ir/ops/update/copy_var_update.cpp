#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_copy_var_update;
constexpr OpRow op_copy_var_update = checked({
    .name = "copy_var_update_",
    .doc = "X, into t. X has the shape and element type of t.",
    .signature = "copy_var_update_(t: Tensor, X: Tensor) -> Tensor",
    .module = "var_updates.copy_var_update",
    .operands = {{{"t"}, {"X"}}},
    .infer = [](Inference& in) {
      if (in.shape(0) != in.shape(1)) in.reject("different-shapes", "t has shape {}, X {}", to_string(in.shape(0)), to_string(in.shape(1)));
      if (in.dtype(0) != in.dtype(1)) in.reject("different-types", "t is {}, X {}; cast X", name_of(in.dtype(0)), name_of(in.dtype(1)));
      same_as_first(in);
    },
    .reference = [](Evaluation& e) { e.result(e.operand(1)); },
    .samples = [] {
      Sample a, b;
      a.operands = {{DType::float32, {3, 4}, -2, 2, {}}, {DType::float32, {3, 4}, -2, 2, {}}};
      b.operands = {{DType::int32, {}, -9, 9, {}}, {DType::int32, {}, -9, 9, {}}};
      return std::vector{a, b};
    },
    .modifies = {{{0, 0}}},
    .popart_type = "CopyVarUpdate",
    .subscripts = update_subscripts,
    .overwrites = true,
});

}  // namespace pando::ir
