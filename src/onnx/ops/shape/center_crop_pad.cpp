#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_center_crop_pad;
constexpr Operator onnx_center_crop_pad = {
    .signature = "CenterCropPad(input_data, shape; axes: ints) -> output_data",
    .rule =
        [](Context& c) {
          Shape in = c.shape_of(0);
          const Ints shape = c.integers(1);
          std::optional<Ints> axes = c.axes("axes", 99, in.size());
          if (!axes) {
            axes.emplace();
            for (std::size_t d = 0; d < in.size(); ++d) axes->push_back(static_cast<std::int64_t>(d));
          }
          if (shape.size() != axes->size()) c.reject(fmt::format("a shape of {} dimensions for {} axes", shape.size(), axes->size()));
          c.check_shape(shape);
          Ints pads(2 * in.size(), 0);
          for (std::size_t i = 0; i < shape.size(); ++i) {
            const auto a = static_cast<std::size_t>((*axes)[i]);
            const std::int64_t more = shape[i] - in[a], less = -more;
            pads[a] = more >= 0 ? more / 2 : -(less / 2);
            pads[in.size() + a] = more - pads[a];
          }
          const ValueId v = c.composition("pad", {c.operand(0)}, {{"pads", pads}});
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
