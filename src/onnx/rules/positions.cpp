#include "onnx/rules/positions.h"

namespace pando::onnx {

void position_of_extreme(Context& c, std::string_view row) {
  const std::int64_t axis = c.axis(0, c.rank_of(0)), n = c.shape_of(0)[static_cast<std::size_t>(axis)];
  const bool last = c.flag("select_last_index", false);
  if (n == 0) c.reject(fmt::format("axis {} has no elements", axis));
  // Of equal elements the last is the first from the end.
  const ValueId x = last ? c.slice(c.operand(0), axis, n - 1, n, -1) : c.operand(0);
  ValueId at = c.op(row, {x}, {{"dim", axis}, {"keepdim", c.flag("keepdims", true)}});
  if (last) at = c.op("sub", {c.scalar(DType::int32, static_cast<double>(n - 1)), at});
  c.give(c.op("cast", {at}, {{"data_type", DType::int64}}));
}

}  // namespace pando::onnx
