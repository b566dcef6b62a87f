#include "lower/parts/op_lowering.h"
#include "lower/shared/expressions.h"
#include "lower/shared/reductions.h"

namespace pando::lower {

extern const Row lower_l2;
constexpr Row lower_l2 = {
    .name = "l2",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const poplar::Type type = wide_type(o.result_type().dtype);
          o.result(0, as_result(o, reduced_and(o, o.operand(0), popops::Operation::SQUARE_ADD, type, pe::Sqrt(pe::_1))));
        },
};

}  // namespace pando::lower
