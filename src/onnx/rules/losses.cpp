#include "onnx/rules/losses.h"

#include <numeric>

namespace pando::onnx {

ValueId likelihood_loss(Context& c, ValueId logs) {
  const Shape shape = c.shape(logs), labels = c.shape_of(1);
  Shape expected = shape;
  if (shape.size() < 2) c.reject(fmt::format("data of {} dimensions; a batch and classes are expected", shape.size()));
  expected.erase(expected.begin() + 1);
  if (labels != expected) c.reject(fmt::format("labels of shape {} for data of {}", ir::to_string(labels), ir::to_string(shape)));
  if (c.has(2) && c.shape_of(2) != Shape{shape[1]})
    c.reject(fmt::format("weights of shape {} for {} classes", ir::to_string(c.shape_of(2)), shape[1]));
  const std::string reduction = c.word("reduction", "mean", {"none", "sum", "mean"});
  const DType dtype = c.dtype(logs);
  ValueId at = c.cast(c.operand(1), DType::int32), counts;
  if (c.has("ignore_index")) {
    const ValueId ignored = c.op("equal", {at, c.scalar(DType::int32, static_cast<double>(c.integer("ignore_index", 0)))});
    at = c.where(ignored, c.scalar(DType::int32, 0), at);
    counts = c.cast(c.op("logical_not", {ignored}), dtype);
  }
  if (c.has(2)) {
    const ValueId flat = c.op("gather", {c.operand(2), c.reshape(at, {ir::elements_of(labels)})}, {{"axis", std::int64_t{0}}});
    const ValueId weights = c.reshape(flat, labels);
    counts = counts.valid() ? c.op("mul", {counts, weights}) : weights;
  }
  Shape beside = shape;
  beside[1] = 1;
  const ValueId found = c.reshape(c.op("gather_elements", {logs, c.reshape(at, beside)}, {{"axis", std::int64_t{1}}}), labels);
  ValueId loss = c.op("negate", {found});
  if (counts.valid()) loss = c.op("mul", {loss, counts});
  if (reduction == "none") return loss;
  Ints axes(labels.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (reduction == "sum" || counts.valid()) {
    const ValueId sum = c.reduce("sum", loss, axes, false);
    return reduction == "sum" ? sum : c.op("div", {sum, c.reduce("sum", counts, axes, false)});
  }
  return c.reduce("mean", loss, axes, false);
}

}  // namespace pando::onnx
