#include "onnx/operator.h"
#include "onnx/rules/signals.h"

namespace pando::onnx {

extern const Operator onnx_hann_window;
constexpr Operator onnx_hann_window = {
    .signature = "HannWindow(size; output_datatype: int, periodic: int) -> output",
    .rule = [](Context& c) { cosine_window(c, {0.5, -0.5}); },
};

}  // namespace pando::onnx
