#include "lower/parts/op_lowering.h"
#include "lower/shared/index.h"

#include <popops/DynamicSlice.hpp>

namespace pando::lower {

extern const Row lower_dynamic_update;
constexpr Row lower_dynamic_update = {
    .name = "dynamic_update",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const ir::Ints &axes = o.attributes().ints("axes"), &sizes = o.attributes().ints("sizes");
          // What is read may have to move before this is written.
          const poplar::Tensor home = o.take(0);
          const poplar::Tensor offset = int_indices(o, o.operand(1)).reinterpret(poplar::UNSIGNED_INT).flatten();
          popops::dynamicUpdate(o.graph(), home, o.operand(2), offset, {axes.begin(), axes.end()}, {sizes.begin(), sizes.end()},
                                o.program(), o.name());
          o.result_taken(0, 0);
        },
};

}  // namespace pando::lower
