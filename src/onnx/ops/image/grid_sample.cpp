#include "onnx/operator.h"
#include "onnx/rules/image/grid_sampling.h"

namespace pando::onnx {

extern const Operator onnx_grid_sample;
constexpr Operator onnx_grid_sample = {
    .signature = "GridSample(X, grid; align_corners: int, mode: text, padding_mode: text) -> Y",
    .rule = [](Context& c) { sample_grid(c); },
};

}  // namespace pando::onnx
