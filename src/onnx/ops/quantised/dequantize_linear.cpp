#include "onnx/operator.h"
#include "onnx/rules/quantise.h"

namespace pando::onnx {

extern const Operator onnx_dequantize_linear;
constexpr Operator onnx_dequantize_linear = {
    .signature = "DequantizeLinear(x, x_scale, x_zero_point?; axis: int, block_size: int, output_dtype: int) -> y",
    .rule =
        [](Context& c) {
          const DType from = c.dtype_of(0);
          if (!ir::is_integer(from) || ir::size_of(from) > 4) c.reject(fmt::format("data of {}", ir::name_of(from)));
          const DType to = c.integer("output_dtype", 0) == 0 ? c.dtype_of(1) : c.dtype_attribute("output_dtype", DType::float32);
          const Shape shape = c.shape_of(0);
          const std::int64_t block = c.ranged("block_size", 0, 0, std::int64_t{1} << 30);
          const bool plain = ir::elements_of(c.shape_of(1)) == 1 && block == 0;
          const std::int64_t axis = plain ? 0 : c.axis(1, shape.size());
          ValueId x = ir::size_of(from) < 4 ? c.cast(c.operand(0), DType::int32) : c.operand(0);
          if (c.has(2)) x = c.op("sub", {x, c.cast(beside_data(c, c.operand(2), shape, axis, block), c.dtype(x))});
          const ValueId scale = beside_data(c, c.cast(c.operand(1), DType::float32), shape, axis, block);
          c.give(c.cast(c.op("mul", {c.cast(x, DType::float32), scale}), to));
        },
    .limits = "operands of other types than int8, uint8, int16, uint16 and int32",
};

}  // namespace pando::onnx
