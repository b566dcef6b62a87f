#include "onnx/operator.h"
#include "onnx/rules/distinct.h"

namespace pando::onnx {

extern const Operator onnx_unique;
constexpr Operator onnx_unique = {
    .signature = "Unique(X; axis: int, sorted: int) -> Y, indices?, inverse_indices?, counts?",
    .rule = [](Context& c) { distinct(c); },
    .limits = "operands that are not known when the model is read",
};

}  // namespace pando::onnx
