#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_tensor_scatter;
constexpr Operator onnx_tensor_scatter = {
    .signature = "TensorScatter(past_cache, update, write_indices?; axis: int, mode: text) -> present_cache",
    .rule =
        [](Context& c) {
          const Shape shape = c.shape_of(0), update = c.shape_of(1);
          const std::int64_t axis = c.axis(-2, shape.size());
          const auto a = static_cast<std::size_t>(axis);
          Shape fits = shape;
          if (update.size() == shape.size()) fits[a] = update[a];
          if (axis == 0 || update != fits || update[a] > shape[a])
            c.reject(fmt::format("an update of shape {} for a cache of {}", ir::to_string(update), ir::to_string(shape)));
          const bool circular = c.word("mode", "linear", {"linear", "circular"}) == "circular";
          const ValueId first = c.has(2) ? c.cast(c.operand(2), DType::int32) : c.full(DType::int32, {shape[0]}, 0);
          Ints steps;
          for (std::int64_t i = 0; i < update[a]; ++i) steps.push_back(i);
          ValueId at = c.op("add", {c.reshape(first, {shape[0], 1}), c.integers(steps)});
          if (circular) at = c.composition("remainder", {at, c.scalar(DType::int32, static_cast<double>(shape[a]))});
          Shape beside(shape.size(), 1);
          beside[0] = shape[0];
          beside[a] = update[a];
          c.give(c.op("scatter", {c.operand(0), c.expand(c.reshape(at, beside), update), c.operand(1)}, {{"axis", axis}}));
        },
};

}  // namespace pando::onnx
