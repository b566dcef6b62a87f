#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_triangle;
constexpr Composition composition_triangle = {
    .name = "triangle",
    .doc =
        "The upper or lower triangle of the last two dimensions: elements above (below) diagonal k, which is right of "
        "the main one where k > 0, are kept, others 0.",
    .operands = {{{"x", any_type}}},
    .attributes = {{{"k", AttributeKind::integer}, {"upper", AttributeKind::flag}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const ValueId x = c.operand();
      const Shape shape = w.shape(x);
      const std::int64_t rows = shape[shape.size() - 2], columns = shape.back(), k = c.attributes.integer("k");
      if (elements_of(shape) == 0) return {x};
      HostTensor mask(DType::boolean, {rows, columns});
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const std::int64_t right = i % columns - i / columns;
        mask.set_integer(i, c.attributes.flag("upper") ? right >= k : right <= k);
      }
      return {w.where(w.constant(mask), x, w.scalar(w.dtype(x), 0))};
    },
};

}  // namespace pando::ir
