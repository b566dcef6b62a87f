#include "onnx/rules/softmax.h"

namespace pando::onnx {

void normalise_exponentials(Context& c, std::string_view composition) {
  const Shape in = c.shape_of(0);
  const std::int64_t axis = c.axis(c.opset >= 13 ? -1 : 1, in.size(), c.opset < 13);
  if (c.opset >= 13) return c.give(c.composition(composition, {c.operand(0)}, {{"axis", axis}}));
  const auto middle = in.begin() + static_cast<std::ptrdiff_t>(axis);
  const Shape rows{ir::elements_of(Shape(in.begin(), middle)), ir::elements_of(Shape(middle, in.end()))};
  c.give(c.reshape(c.composition(composition, {c.reshape(c.operand(0), rows)}, {{"axis", std::int64_t{1}}}), in));
}

}  // namespace pando::onnx
