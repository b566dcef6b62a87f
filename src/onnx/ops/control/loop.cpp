#include "onnx/importer.h"
#include "onnx/operator.h"
#include "onnx/rules/loops.h"

namespace pando::onnx {

extern const Operator onnx_loop;
constexpr Operator onnx_loop = {
    .signature = "Loop(M?, cond?, v_initial...; body!: graph) -> results...",
    .rule = [](Context& c) { loop(c); },
    .limits = "numbers of trips that are not known when the model is read, unless M bounds them and nothing is stacked",
};

}  // namespace pando::onnx
