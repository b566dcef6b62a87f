#include "lower/parts/op_lowering.h"
#include "lower/shared/expressions.h"
#include "lower/shared/float8.h"
#include "lower/shared/products.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_matmul_pow2scaled;
constexpr Row lower_matmul_pow2scaled = {
    .name = "matmul_pow2scaled",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const Tensor y = product(o, float8_decoded(o, 0, poplar::HALF), float8_decoded(o, 1, poplar::HALF), ir::DType::float32);
          const Any scaled = pe::Cast(pe::Mul(pe::_1, pe::_2), poplar::HALF);
          o.result(0, popops::map(o.graph(), scaled, {y, power_of_two(o, 2)}, o.program(), o.name() + "/scaled"));
        },
};

}  // namespace pando::lower
