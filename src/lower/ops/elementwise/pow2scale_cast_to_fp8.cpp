#include "lower/parts/op_lowering.h"
#include "lower/shared/expressions.h"
#include "lower/shared/float8.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_pow2scale_cast_to_fp8;
constexpr Row lower_pow2scale_cast_to_fp8 = {
    .name = "pow2scale_cast_to_fp8",
    .lower =
        [](OpLowering& o) {
          const Any scaled = pe::Mul(pe::Cast(pe::_1, poplar::FLOAT), pe::_2);
          const Tensor t = popops::map(o.graph(), scaled, {o.operand(0), power_of_two(o, 1)}, o.program(), o.name() + "/scaled");
          o.result(0, float8_encoded(o, t, o.result_type().dtype));
        },
};

}  // namespace pando::lower
