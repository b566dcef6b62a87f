#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_tile;
constexpr Operator onnx_tile = {
    .signature = "Tile(input, repeats) -> output",
    .rule =
        [](Context& c) {
          const Ints repeats = c.integers(1);
          const Shape in = c.shape_of(0);
          if (repeats.size() != in.size()) c.reject(fmt::format("{} repeats for {} dimensions", repeats.size(), in.size()));
          c.check_shape(repeats);
          const ValueId v = c.composition("tile", {c.operand(0)}, {{"repeats", repeats}});
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
