#include "onnx/operator.h"
#include "onnx/rules/quantise.h"

namespace pando::onnx {

extern const Operator onnx_quantize_linear;
constexpr Operator onnx_quantize_linear = {
    .signature =
        "QuantizeLinear(x, y_scale, y_zero_point?; axis: int, block_size: int, output_dtype: int, precision: int, "
        "saturate: int) -> y",
    .rule =
        [](Context& c) {
          const DType to = c.has(2) ? c.dtype_of(2) : c.dtype_attribute("output_dtype", DType::uint8);
          if (c.has(2) && c.has("output_dtype") && c.dtype_attribute("output_dtype", to) != to)
            c.reject("attribute 'output_dtype' is not the zero point's type");
          if (!ir::is_integer(to) || ir::size_of(to) > 2) c.reject(fmt::format("results of {}", ir::name_of(to)));
          const DType precision = c.integer("precision", 0) == 0 ? DType::float32 : c.dtype_attribute("precision", DType::float32);
          if (precision != DType::float32)
            c.reject(fmt::format("attribute 'precision' is {}; float32 is possible", ir::name_of(precision)));
          c.flag("saturate", true);
          const Shape shape = c.shape_of(0);
          const std::int64_t block = c.ranged("block_size", 0, 0, std::int64_t{1} << 30);
          const bool plain = ir::elements_of(c.shape_of(1)) == 1 && block == 0;
          const std::int64_t axis = plain ? 0 : c.axis(1, shape.size());
          const ValueId zero = c.has(2) ? beside_data(c, c.operand(2), shape, axis, block) : ValueId();
          c.give(quantised(c, c.operand(0), beside_data(c, c.operand(1), shape, axis, block), zero, to));
        },
    .limits = "results of other types than int8, uint8, int16 and uint16",
};

}  // namespace pando::onnx
