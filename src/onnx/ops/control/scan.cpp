#include "onnx/operator.h"
#include "onnx/rules/loops.h"

namespace pando::onnx {

extern const Operator onnx_scan;
constexpr Operator onnx_scan = {
    .signature =
        "Scan(inputs...; body!: graph, num_scan_inputs!: int, scan_input_axes: ints, scan_input_directions: ints, "
        "scan_output_axes: ints, scan_output_directions: ints) -> outputs...",
    .rule = [](Context& c) { scan(c); },
    .limits = "opset 8, which has a batch and lengths",
};

}  // namespace pando::onnx
