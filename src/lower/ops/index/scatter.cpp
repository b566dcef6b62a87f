#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/index.h"

#include <popops/DynamicSlice.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_scatter;
constexpr Row lower_scatter = {
    .name = "scatter",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          // What is read may have to move before this is written.
          const Tensor home = o.take(0);
          const Tensor indices = int_indices(o, o.operand(1)), values = o.operand(2);
          if (home.numElements() == 0) return o.result_taken(0, 0);
          const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
          const Tensor offsets = flat_positions(o, indices.shape(), indices, axis, extents(o.result_type().shape));
          popops::multiUpdate(o.graph(), home.flatten().expand({1}), values.reshape({values.numElements(), 1, 1}), offsets, {0}, {1},
                              o.program(), {}, {}, o.name());
          o.result_taken(0, 0);
        },
};

}  // namespace pando::lower
