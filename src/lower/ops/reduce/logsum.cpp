#include "lower/parts/op_lowering.h"
#include "lower/shared/expressions.h"
#include "lower/shared/reductions.h"

namespace pando::lower {

extern const Row lower_logsum;
constexpr Row lower_logsum = {
    .name = "logsum",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const poplar::Type type = wide_type(o.result_type().dtype);
          o.result(0, as_result(o, reduced_and(o, o.operand(0), popops::Operation::ADD, type, pe::Log(pe::_1))));
        },
};

}  // namespace pando::lower
