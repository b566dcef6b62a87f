#include "onnx/operator.h"
#include "onnx/rules/image/resizing.h"

namespace pando::onnx {

extern const Operator onnx_resize;
constexpr Operator onnx_resize = {
    .signature =
        "Resize(X, roi?, scales?, sizes?; antialias: int, axes: ints, coordinate_transformation_mode: text, "
        "cubic_coeff_a: float, exclude_outside: int, extrapolation_value: float, keep_aspect_ratio_policy: text, mode: "
        "text, nearest_mode: text) -> Y",
    .rule = [](Context& c) { resize(c); },
};

}  // namespace pando::onnx
