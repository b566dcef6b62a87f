#include "onnx/operator.h"
#include "onnx/rules/signals.h"

namespace pando::onnx {

extern const Operator onnx_dft;
constexpr Operator onnx_dft = {
    .signature = "DFT(input, dft_length?, axis?; axis: int, inverse: int, onesided: int) -> output",
    .rule = [](Context& c) { fourier(c); },
};

}  // namespace pando::onnx
