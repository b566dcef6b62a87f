#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_roi_align;
constexpr Operator onnx_roi_align = {
    .signature =
        "RoiAlign(X, rois, batch_indices; coordinate_transformation_mode: text, mode: text, output_height: int, "
        "output_width: int, sampling_ratio: int, spatial_scale: float) -> Y",
    .rule =
        [](Context& c) {
          if (c.word("mode", "avg", {"avg", "max"}) == "max") c.reject("attribute 'mode' is 'max'");
          const char* const otherwise = c.opset < 16 ? "output_half_pixel" : "half_pixel";
          if (c.word("coordinate_transformation_mode", otherwise, {"half_pixel", "output_half_pixel"}) == "half_pixel")
            c.reject("coordinates are 'half_pixel'; 'output_half_pixel' is possible");
          const Ints size{c.ranged("output_height", 1, 1, 1 << 20), c.ranged("output_width", 1, 1, 1 << 20)};
          const Attributes a{{"output_size", size},
                             {"spatial_scale", c.real("spatial_scale", 1)},
                             {"sampling_ratio", c.ranged("sampling_ratio", 0, 0, 1 << 10)}};
          c.give(c.op("roi_align", {c.operand(0), c.operand(1), c.cast(c.operand(2), DType::int32)}, a));
        },
    .limits = "mode max, coordinates half_pixel (the default from opset 16 on)",
};

}  // namespace pando::onnx
