#include "lower/lowering.h"
#include "lower/shared/reductions.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

extern const Row lower_l2;
constexpr Row lower_l2 = {
    .name = "l2",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor sum = reduced(o, o.operand(0), popops::Operation::SQUARE_ADD, wide_type(o.result_type().dtype));
          o.result(0, as_result(o, popops::sqrt(o.graph(), sum, o.program(), o.name())));
        },
};

}  // namespace pando::lower
