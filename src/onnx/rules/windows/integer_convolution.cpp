#include "onnx/rules/windows/integer_convolution.h"

#include "onnx/rules/quantise.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

// Sums of up to 256 products of two bytes are whole floats: the channels of a group come in so many pieces, and each piece of the kernel.
ValueId integer_convolution(Context& c, std::size_t data, std::size_t data_zero, std::size_t weight, std::size_t weight_zero) {
  const ValueId x = whole_numbers(c, data, data_zero, [&](ValueId v) { return c.reshape(v, {}); });
  const ValueId w = whole_numbers(c, weight, weight_zero, [&](ValueId v) {
    if (ir::elements_of(c.shape(v)) == 1) return c.reshape(v, {});
    Shape beside(c.rank_of(weight), 1);
    beside[0] = ir::elements_of(c.shape(v));
    return c.reshape(v, beside);
  });
  const Shape shape = c.shape(w);
  if (shape.size() < 3) c.reject(fmt::format("weights of shape {}", ir::to_string(shape)));
  const std::int64_t cells = ir::elements_of(Shape(shape.begin() + 2, shape.end())), groups = c.integer("group", 1);
  if (cells > 256) c.reject(fmt::format("a kernel of {} elements; 256 are the most", cells));
  const std::int64_t channels = shape[1], piece = std::max<std::int64_t>(256 / std::max<std::int64_t>(cells, 1), 1);
  if (channels <= piece) return c.cast(convolution(c, x, w), DType::int32);
  if (groups != 1) c.reject(fmt::format("{} groups of {} channels; {} are the most of several groups", groups, channels, piece));
  ValueId sum;
  for (std::int64_t at = 0; at < channels; at += piece) {
    const std::int64_t n = std::min(piece, channels - at);
    const ValueId part = c.cast(convolution(c, c.slice(x, 1, at, n), c.slice(w, 1, at, n)), DType::int32);
    sum = sum.valid() ? c.op("add", {sum, part}) : part;
  }
  return sum;
}

}  // namespace pando::onnx
