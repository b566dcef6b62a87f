#include "onnx/operator.h"
#include "onnx/rules/signals.h"

namespace pando::onnx {

extern const Operator onnx_hamming_window;
constexpr Operator onnx_hamming_window = {
    .signature = "HammingWindow(size; output_datatype: int, periodic: int) -> output",
    .rule = [](Context& c) { cosine_window(c, {25.0 / 46, -21.0 / 46}); },
};

}  // namespace pando::onnx
