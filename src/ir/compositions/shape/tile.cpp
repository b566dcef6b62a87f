#include "ir/construction/composition.h"
#include "ir/error.h"

namespace pando::ir {

extern const Composition composition_tile;
constexpr Composition composition_tile = {
    .name = "tile",
    .doc = "The tensor repeated: repeats[i] times along dimension i.",
    .operands = {{{"x", any_type}}},
    .attributes = {{{"repeats", AttributeKind::ints}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const Ints& repeats = c.attributes.ints("repeats");
      const Shape shape = w.shape(c.operand());
      if (repeats.size() != shape.size())
        reject(ErrorClass::value, "tile-repeats", "{} repeats for {} dimensions", repeats.size(), shape.size());
      Shape apart, wide, whole;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        apart.insert(apart.end(), {1, shape[d]});
        wide.insert(wide.end(), {repeats[d], shape[d]});
        whole.push_back(repeats[d] * shape[d]);
      }
      if (whole == shape) return {c.operand()};
      return {w.reshape(w.expand(w.reshape(c.operand(), apart), wide), whole)};
    },
};

}  // namespace pando::ir
