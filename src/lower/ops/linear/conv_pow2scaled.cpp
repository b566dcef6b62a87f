#include "lower/shared/expressions.h"
#include "lower/shared/float8.h"
#include "lower/shared/windows/convolutions.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

extern const Row lower_conv_pow2scaled;
constexpr Row lower_conv_pow2scaled = {
    .name = "conv_pow2scaled",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poplin);
          const ir::Convolution c = ir::convolution_of(o.attributes(), o.operand_type(0).shape, o.operand_type(1).shape);
          poplin::ConvParams p = convolution_params(o.attributes(), c, ir::DType::float16);
          p.outputType = poplar::FLOAT;
          const poplar::Tensor t = float8_decoded(o, 0, poplar::HALF), weight = float8_decoded(o, 1, poplar::HALF);
          const poplar::Tensor y = poplin::convolution(o.graph(), t, grouped_weights(weight, c), p, false, o.program(), o.name(),
                                                       convolution_options(o.attributes(), o.settings()), &o.planning());
          const Any scaled = pe::Cast(pe::Mul(pe::_1, pe::_2), poplar::HALF);
          o.result(0, popops::map(o.graph(), scaled, {y, power_of_two(o, 2)}, o.program(), o.name() + "/scaled"));
        },
};

}  // namespace pando::lower
