#include "lower/parts/op_lowering.h"
#include "lower/shared/index.h"

#include <popops/Cast.hpp>
#include <popops/DynamicSlice.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_sparse_accumulate;
constexpr Row lower_sparse_accumulate = {
    .name = "sparse_accumulate_",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis"));
          // What is read may have to move before this is written.
          const Tensor home = o.take(0);
          const Tensor indices = int_indices(o, o.operand(2)).flatten();
          const std::size_t n = indices.numElements();
          // {n, shape of t with 1 along the axis}
          auto shape = home.shape();
          shape[axis] = n;
          Tensor pieces = o.operand(1).reshape(shape).dimRoll(axis, 0).expand({axis + 1});
          if (pieces.elementType() != home.elementType())
            pieces = popops::cast(o.graph(), pieces, home.elementType(), o.program(), o.name() + "/X");
          Tensor scale = o.scalar("f", 1);
          if (scale.elementType() != home.elementType())
            scale = popops::cast(o.graph(), scale, home.elementType(), o.program(), o.name() + "/f");
          popops::multiUpdateAdd(o.graph(), home, pieces, indices.expand({1}), scale, {axis}, {1}, o.program(), {}, {}, o.name());
          o.result_taken(0, 0);
        },
};

}  // namespace pando::lower
