#include "ir/construction/composition.h"
#include "ir/error.h"

#include <algorithm>

namespace pando::ir {

extern const Composition composition_gather_nd;
constexpr Composition composition_gather_nd = {
    .name = "gather_nd",
    .doc =
        "The slices of x that the last dimension of the indices names; the first batch_dims dimensions of both go "
        "together. Negative indices count from the end.",
    .operands = {{{"x", any_type}, {"indices", any_integer}}},
    .attributes = {{{"batch_dims", AttributeKind::integer, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const ValueId x = c.operand(0), at = c.operand(1);
      const Shape shape = w.shape(x), indices = w.shape(at);
      const auto batch = static_cast<std::size_t>(c.attributes.integer("batch_dims", 0));
      if (indices.empty() || batch >= indices.size() || batch + static_cast<std::size_t>(indices.back()) > shape.size())
        reject(ErrorClass::value, "gather-indices", "indices of shape {} do not name parts of a tensor of shape {}", to_string(indices),
               to_string(shape));
      const auto depth = static_cast<std::size_t>(indices.back());
      for (std::size_t d = 0; d < batch; ++d) {
        if (shape[d] != indices[d]) reject(ErrorClass::value, "gather-indices", "dimension {} is {} and {}", d, shape[d], indices[d]);
      }
      const auto from = shape.begin() + static_cast<std::ptrdiff_t>(batch), middle = from + static_cast<std::ptrdiff_t>(depth);
      const Shape named(from, middle), inner(middle, shape.end());
      const std::int64_t batches = elements_of(Shape(shape.begin(), from)),
                         rows = elements_of(Shape(indices.begin(), indices.end() - 1)) / std::max<std::int64_t>(batches, 1);
      const ValueId flat = w.reshape(at, {batches, rows, static_cast<std::int64_t>(depth)});
      ValueId position = w.scalar(DType::int32, 0);
      for (std::size_t d = 0; d < depth; ++d) {
        const ValueId one = w.reshape(w.slice(flat, 2, static_cast<std::int64_t>(d), 1), {batches, rows});
        position =
            w.op("add", {w.op("mul", {position, w.scalar(DType::int32, static_cast<double>(named[d]))}), w.from_start(one, named[d])});
      }
      Ints offsets;
      for (std::int64_t b = 0; b < batches; ++b) offsets.push_back(b * elements_of(named));
      if (batch > 0) position = w.op("add", {position, w.reshape(w.integers(offsets), {batches, 1})});
      const std::int64_t slices = batches * elements_of(named), size = elements_of(inner);
      const ValueId found =
          w.op("gather", {w.reshape(x, {slices, size}), w.reshape(position, {batches * rows})}, {{"axis", std::int64_t{0}}});
      Shape out(indices.begin(), indices.end() - 1);
      out.insert(out.end(), inner.begin(), inner.end());
      return {w.reshape(found, out)};
    },
};

}  // namespace pando::ir
