#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/reductions.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

extern const Row lower_l1;
constexpr Row lower_l1 = {
    .name = "l1",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const poplar::Tensor magnitude = popops::abs(o.graph(), o.operand(0), o.program(), o.name() + "/magnitude");
          o.result(0, reduced(o, magnitude, popops::Operation::ADD, element_type(o.result_type().dtype)));
        },
};

}  // namespace pando::lower
