#include "lower/lowering.h"
#include "lower/shared/reductions.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

extern const Row lower_logsum;
constexpr Row lower_logsum = {
    .name = "logsum",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor sum = reduced(o, o.operand(0), popops::Operation::ADD, wide_type(o.result_type().dtype));
          o.result(0, as_result(o, popops::log(o.graph(), sum, o.program(), o.name())));
        },
};

}  // namespace pando::lower
