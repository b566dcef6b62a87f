#include "onnx/rules/quantise.h"

#include <cmath>

namespace pando::onnx {

std::pair<double, double> range_of(DType t) {
  const double half = std::ldexp(1, static_cast<int>(8 * ir::size_of(t)) - 1);
  return ir::is_unsigned_integer(t) ? std::pair{0.0, 2 * half - 1} : std::pair{-half, half - 1};
}

ValueId beside_data(Context& c, ValueId v, const Shape& shape, std::int64_t axis, std::int64_t block) {
  const Shape s = c.shape(v);
  if (ir::elements_of(s) == 1 && block == 0) return c.reshape(v, {});
  const auto a = static_cast<std::size_t>(axis);
  if (block == 0) {
    if (s.size() != 1 || shape.empty() || s[0] != shape[a])
      c.reject(fmt::format("a scale or zero point of shape {} for axis {} of {}", ir::to_string(s), axis, ir::to_string(shape)));
    Shape beside(shape.size(), 1);
    beside[a] = s[0];
    return c.reshape(v, beside);
  }
  Shape blocks = shape;
  if (!blocks.empty()) blocks[a] = (shape[a] + block - 1) / block;
  if (s != blocks)
    c.reject(fmt::format("a scale or zero point of shape {}; blocks of {} along axis {} of {} have {}", ir::to_string(s), block, axis,
                         ir::to_string(shape), ir::to_string(blocks)));
  Shape apart = s, wide = s, whole = s;
  apart.insert(apart.begin() + axis + 1, 1);
  wide.insert(wide.begin() + axis + 1, block);
  whole[a] *= block;
  return c.slice(c.reshape(c.expand(c.reshape(v, apart), wide), whole), axis, 0, shape[a]);
}

ValueId quantised(Context& c, ValueId x, ValueId scale, ValueId zero, DType to) {
  const auto [low, high] = range_of(to);
  ValueId y = c.op("round", {c.op("div", {c.cast(x, DType::float32), c.cast(scale, DType::float32)})});
  if (zero.valid()) y = c.op("add", {y, c.cast(zero, DType::float32)});
  return c.cast(c.op("clip", {y}, {{"min", low}, {"max", high}}), to);
}

ValueId whole_numbers(Context& c, std::size_t i, std::size_t zero, const std::function<ValueId(ValueId)>& beside) {
  const DType dtype = c.dtype_of(i);
  if (dtype != DType::int8 && dtype != DType::uint8)
    c.reject(fmt::format("operand {} has elements of {}; int8 or uint8 is expected", i, ir::name_of(dtype)));
  const ValueId x = c.cast(c.operand(i), DType::float32);
  if (!c.has(zero)) return x;
  if (c.dtype_of(zero) != dtype) c.reject(fmt::format("a zero point of {} for {}", ir::name_of(c.dtype_of(zero)), ir::name_of(dtype)));
  return c.op("sub", {x, c.cast(beside(c.operand(zero)), DType::float32)});
}

}  // namespace pando::onnx
