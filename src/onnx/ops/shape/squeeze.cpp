#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_squeeze;
constexpr Operator onnx_squeeze = {
    .signature = "Squeeze(data, axes?; axes: ints) -> squeezed",
    .rule =
        [](Context& c) {
          const Shape in = c.shape_of(0);
          const std::optional<Ints> axes = c.axes("axes", 1, in.size());
          Ints out;
          for (std::size_t d = 0; d < in.size(); ++d) {
            const bool gone = axes ? std::find(axes->begin(), axes->end(), static_cast<std::int64_t>(d)) != axes->end() : in[d] == 1;
            if (gone && in[d] != 1) c.reject(fmt::format("dimension {} has {} elements; only one of one element goes away", d, in[d]));
            if (!gone) out.push_back(in[d]);
          }
          c.give(c.op("reshape", {c.operand(0)}, {{"shape", out}}));
        },
};

}  // namespace pando::onnx
