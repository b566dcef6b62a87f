#include "onnx/operator.h"
#include "onnx/rules/signals.h"

namespace pando::onnx {

extern const Operator onnx_blackman_window;
constexpr Operator onnx_blackman_window = {
    .signature = "BlackmanWindow(size; output_datatype: int, periodic: int) -> output",
    .rule = [](Context& c) { cosine_window(c, {0.42, -0.5, 0.08}); },
};

}  // namespace pando::onnx
