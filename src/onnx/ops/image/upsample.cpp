#include "onnx/operator.h"
#include "onnx/rules/image/resizing.h"

namespace pando::onnx {

extern const Operator onnx_upsample;
constexpr Operator onnx_upsample = {
    .signature = "Upsample(X, scales?; mode: text, scales: floats) -> Y",
    .rule = [](Context& c) { upsample(c); },
};

}  // namespace pando::onnx
