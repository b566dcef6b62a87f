#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_rotary_embedding;
constexpr Operator onnx_rotary_embedding = {
    .signature =
        "RotaryEmbedding(X, cos_cache, sin_cache, position_ids?; interleaved: int, num_heads: int, "
        "rotary_embedding_dim: int) -> Y",
    .rule =
        [](Context& c) {
          const Shape in = c.shape_of(0);
          if (in.size() != 3 && in.size() != 4) c.reject(fmt::format("data of {} dimensions; 3 or 4 are expected", in.size()));
          const std::int64_t given = c.ranged("num_heads", 0, 0, 1 << 20);
          if (in.size() == 3 && (given == 0 || in[2] % given != 0))
            c.reject(fmt::format("attribute 'num_heads' is {} for {} elements", given, in[2]));
          const std::int64_t heads = in.size() == 4 ? in[1] : given, batch = in[0], length = in.size() == 4 ? in[2] : in[1],
                             size = in.size() == 4 ? in[3] : in[2] / heads;
          // (batch, length, heads, size)
          const ValueId x =
              in.size() == 4 ? c.transpose(c.operand(0), {0, 2, 1, 3}) : c.reshape(c.operand(0), {batch, length, heads, size});
          std::int64_t turned = c.ranged("rotary_embedding_dim", 0, 0, size);
          if (turned == 0) turned = size;
          const std::int64_t half = turned / 2;
          if (turned % 2 != 0) c.reject(fmt::format("{} elements are turned in pairs", turned));
          const auto table = [&](std::size_t i) {
            ValueId v = c.operand(i);
            if (c.has(3)) v = c.op("gather", {v, c.from_start(c.operand(3), c.shape_of(i)[0])}, {{"axis", std::int64_t{0}}});
            if (c.shape(v) != Shape{batch, length, half})
              c.reject(fmt::format("operand {} has shape {}; ({}, {}, {}) is expected of it", i, ir::to_string(c.shape(v)), batch, length,
                                   half));
            return c.reshape(v, {batch, length, 1, half});
          };
          const ValueId cosine = table(1), sine = table(2);
          const bool interleaved = c.flag("interleaved", false);
          const ValueId front = c.slice(x, 3, 0, turned);
          const ValueId a = interleaved ? c.slice(front, 3, 0, half, 2) : c.slice(front, 3, 0, half),
                        b = interleaved ? c.slice(front, 3, 1, half, 2) : c.slice(front, 3, half, half);
          const ValueId real = c.op("sub", {c.op("mul", {a, cosine}), c.op("mul", {b, sine})});
          const ValueId imaginary = c.op("add", {c.op("mul", {a, sine}), c.op("mul", {b, cosine})});
          ValueId y;
          if (interleaved) {
            const Shape pairs{batch, length, heads, half, 1};
            y = c.reshape(c.concat({c.reshape(real, pairs), c.reshape(imaginary, pairs)}, 4), {batch, length, heads, turned});
          } else {
            y = c.concat({real, imaginary}, 3);
          }
          if (turned < size) y = c.concat({y, c.slice(x, 3, turned, size - turned)}, 3);
          c.give(in.size() == 4 ? c.transpose(y, {0, 2, 1, 3}) : c.reshape(y, in));
        },
};

}  // namespace pando::onnx
