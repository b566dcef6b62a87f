#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/expressions.h"
#include "lower/shared/float8.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_pow2scale_cast_from_fp8;
constexpr Row lower_pow2scale_cast_from_fp8 = {
    .name = "pow2scale_cast_from_fp8",
    .lower =
        [](OpLowering& o) {
          const Any scaled = pe::Cast(pe::Mul(pe::_1, pe::_2), element_type(o.result_type().dtype));
          const Tensor t = float8_decoded(o, 0, poplar::FLOAT);
          o.result(0, popops::map(o.graph(), scaled, {t, power_of_two(o, 1)}, o.program(), o.name()));
        },
};

}  // namespace pando::lower
