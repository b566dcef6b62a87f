#include "onnx/operator.h"
#include "onnx/rules/contraction.h"

namespace pando::onnx {

extern const Operator onnx_einsum;
constexpr Operator onnx_einsum = {
    .signature = "Einsum(Inputs...; equation!: text) -> Output",
    .rule = [](Context& c) { contract(c); },
    .limits = "ellipses with different numbers of dimensions",
};

}  // namespace pando::onnx
