#include "lower/parts/op_lowering.h"
#include "lower/shared/index.h"

#include <popops/DynamicSlice.hpp>

namespace pando::lower {

extern const Row lower_dynamic_slice;
constexpr Row lower_dynamic_slice = {
    .name = "dynamic_slice",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const ir::Ints &axes = o.attributes().ints("axes"), &sizes = o.attributes().ints("sizes");
          const poplar::Tensor offset = int_indices(o, o.operand(1)).reinterpret(poplar::UNSIGNED_INT).flatten();
          o.result(0, popops::dynamicSlice(o.graph(), o.operand(0), offset, {axes.begin(), axes.end()}, {sizes.begin(), sizes.end()},
                                           o.program(), o.name()));
        },
};

}  // namespace pando::lower
