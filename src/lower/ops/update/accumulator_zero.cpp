#include "lower/parts/op_lowering.h"

#include <popops/Zero.hpp>

namespace pando::lower {

extern const Row lower_accumulator_zero;
constexpr Row lower_accumulator_zero = {
    .name = "accumulator_zero_",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          popops::zero(o.graph(), o.take_undefined(0), o.program(), o.name());
          o.result_taken(0, 0);
        },
};

}  // namespace pando::lower
