#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_pad;
constexpr Operator onnx_pad = {
    .signature = "Pad(data, pads?, constant_value?, axes?; mode: text, pads: ints, value: float) -> output",
    .rule =
        [](Context& c) {
          const std::size_t rank = c.rank_of(0);
          const std::optional<Ints> given = c.either("pads", 1);
          if (!given) c.reject("it has no pads");
          std::optional<Ints> axes = c.has(3) ? c.axes("", 3, rank) : std::nullopt;
          if (!axes) {
            axes.emplace();
            for (std::size_t d = 0; d < rank; ++d) axes->push_back(static_cast<std::int64_t>(d));
          }
          if (given->size() != 2 * axes->size())
            c.reject(fmt::format("{} pads for {} axes; there are two of each", given->size(), axes->size()));
          Ints pads(2 * rank, 0);
          Shape shape = c.shape_of(0);
          for (std::size_t i = 0; i < axes->size(); ++i) {
            const auto a = static_cast<std::size_t>((*axes)[i]);
            for (std::size_t end : {0u, 1u}) {
              const std::int64_t p = (*given)[end * axes->size() + i];
              if (p < -(std::int64_t{1} << 40) || p > std::int64_t{1} << 40) c.reject(fmt::format("a pad of {}", p));
              pads[end * rank + a] = p;
            }
            shape[a] += pads[a] + pads[rank + a];
          }
          c.check_shape(shape);
          const std::string mode = c.word("mode", "constant", {"constant", "reflect", "edge", "wrap"});
          Values operands{c.operand(0)};
          if (c.has(2)) operands.push_back(c.reshape(c.operand(2), {}));
          if (c.has("value")) operands.push_back(c.scalar(c.dtype_of(0), c.real("value", 0)));
          const ValueId v = ir::compose(c, "pad", operands, {{"pads", pads}, {"mode", mode}})[0];
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
