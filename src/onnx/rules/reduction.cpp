#include "onnx/rules/reduction.h"

#include <limits>
#include <numeric>

namespace pando::onnx {

namespace {

// Of no elements.
std::optional<double> of_nothing(std::string_view row, DType dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  // Of truths: no element is true, every element is.
  if (dtype == DType::boolean && (row == "max" || row == "min")) return row == "min" ? 1 : 0;
  if (row == "max") return ir::is_floating(dtype) ? -infinity : std::optional<double>();
  if (row == "min") return ir::is_floating(dtype) ? infinity : std::optional<double>();
  if (row == "logsum" || row == "logsumexp") return -infinity;
  if (row == "prod") return 1;
  if (row == "mean") return std::numeric_limits<double>::quiet_NaN();
  return 0;
}

bool takes_integers(std::string_view row) { return row == "max" || row == "min" || row == "prod" || row == "sum" || row == "sumsquare"; }

}  // namespace

void reduce_with(Context& c, std::string_view row) {
  const Shape shape = c.shape_of(0);
  Ints axes = c.axes("axes", 1, shape.size()).value_or(Ints{});
  if (axes.empty() && !c.flag("noop_with_empty_axes", false)) {
    axes.resize(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const bool keepdims = c.flag("keepdims", true);
  const DType dtype = c.dtype_of(0);
  Shape left;
  bool nothing = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    nothing = nothing || (reduced && shape[d] == 0);
    if (!reduced || keepdims) left.push_back(reduced ? 1 : shape[d]);
  }
  if (nothing) {
    const std::optional<double> value = of_nothing(row, dtype);
    if (!value) c.reject(fmt::format("it reduces no elements of {}, which have neither a largest nor a least", ir::name_of(dtype)));
    return c.give(c.full(dtype, left, *value));
  }
  ValueId x = c.operand(0);
  // Truth is compared as numbers are.
  const bool narrow = dtype == DType::boolean;
  if (narrow) x = c.cast(x, DType::int32);
  const bool as_float = !ir::is_floating(dtype) && !takes_integers(row);
  if (as_float) x = c.cast(x, DType::float32);
  c.give(c.cast(c.reduce(row, x, axes, keepdims), dtype));
}

}  // namespace pando::onnx
