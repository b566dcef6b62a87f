#include "ir/construction/composition.h"
#include "ir/error.h"

#include <string>

namespace pando::ir {

extern const Composition composition_scatter_nd;
constexpr Composition composition_scatter_nd = {
    .name = "scatter_nd",
    .doc =
        "A copy of x in which updates replace slices or are combined with them: the last dimension of the indices "
        "names the slices. reduction: none, add, mul, max or min; of several updates of one slice the last one counts "
        "without. Negative indices count from the end.",
    .operands = {{{"x", any_type}, {"indices", any_integer}, {"updates", any_type}}},
    .attributes = {{{"reduction", AttributeKind::text, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const ValueId x = c.operand(0);
      const Shape shape = w.shape(x), indices = w.shape(c.operand(1));
      if (indices.empty() || indices.back() < 0 || static_cast<std::size_t>(indices.back()) > shape.size())
        reject(ErrorClass::value, "scatter-indices", "indices of shape {} do not name parts of a tensor of shape {}", to_string(indices),
               to_string(shape));
      const std::int64_t depth = indices.back(), rows = elements_of(Shape(indices.begin(), indices.end() - 1));
      const auto middle = shape.begin() + static_cast<std::ptrdiff_t>(depth);
      const Shape named(shape.begin(), middle), inner(middle, shape.end());
      Shape expected(indices.begin(), indices.end() - 1);
      expected.insert(expected.end(), inner.begin(), inner.end());
      if (w.shape(c.operand(2)) != expected)
        reject(ErrorClass::value, "scatter-shapes", "updates of shape {}; {} is expected", to_string(w.shape(c.operand(2))),
               to_string(expected));
      if (rows == 0) return {x};
      const ValueId flat = w.reshape(c.operand(1), {rows, depth});
      ValueId position = w.full(DType::int32, {rows}, 0);
      for (std::int64_t d = 0; d < depth; ++d) {
        const std::int64_t n = named[static_cast<std::size_t>(d)];
        const ValueId one = w.from_start(w.reshape(w.slice(flat, 1, d, 1), {rows}), n);
        position = d == 0 ? one : w.op("add", {w.op("mul", {position, w.scalar(DType::int32, static_cast<double>(n))}), one});
      }
      const std::int64_t slices = elements_of(named), size = elements_of(inner);
      const ValueId wide = w.expand(w.reshape(position, {rows, 1}), {rows, size});
      const Attributes a{{"axis", std::int64_t{0}},
                         {"reduction", c.attributes.has("reduction") ? c.attributes.text("reduction") : std::string("none")}};
      return {
          w.reshape(compose(w, "scatter_elements", {w.reshape(x, {slices, size}), wide, w.reshape(c.operand(2), {rows, size})}, a), shape)};
    },
};

}  // namespace pando::ir
