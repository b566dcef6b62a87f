#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_unsqueeze;
constexpr Operator onnx_unsqueeze = {
    .signature = "Unsqueeze(data, axes?; axes: ints) -> expanded",
    .rule =
        [](Context& c) {
          const Shape in = c.shape_of(0);
          const std::optional<Ints> given = c.either("axes", 1);
          if (!given) c.reject("it has no axes");
          // As many as a tensor may have.
          if (given->size() + in.size() > 64) c.reject(fmt::format("{} axes are too many", given->size()));
          const Ints axes = *c.axes("axes", 1, in.size() + given->size());
          Ints out;
          std::size_t next = 0;
          for (std::size_t d = 0; d < in.size() + axes.size(); ++d) {
            const bool fresh = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
            out.push_back(fresh ? 1 : in[next++]);
          }
          c.give(c.op("reshape", {c.operand(0)}, {{"shape", out}}));
        },
};

}  // namespace pando::onnx
