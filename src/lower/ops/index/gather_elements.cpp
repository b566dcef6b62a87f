#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/index.h"

#include <popops/DynamicSlice.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_gather_elements;
constexpr Row lower_gather_elements = {
    .name = "gather_elements",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const Tensor indices = int_indices(o, o.operand(1));
          const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
          const Tensor offsets = flat_positions(o, indices.shape(), indices, axis, extents(o.operand_type(0).shape));
          o.result(0, popops::multiSlice(o.graph(), o.operand(0).flatten().expand({1}), offsets, {0}, {1}, o.program(), {}, {}, o.name()));
        },
};

}  // namespace pando::lower
