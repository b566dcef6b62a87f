#include "lower/shared/expressions.h"
#include "lower/shared/float8.h"
#include "lower/shared/windows/convolutions.h"

#include <poplin/ConvUtil.hpp>
#include <popops/ElementWise.hpp>

namespace pando::lower {

extern const Row lower_conv_transpose_pow2scaled;
constexpr Row lower_conv_transpose_pow2scaled = {
    .name = "conv_transpose_pow2scaled",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poplin);
          ir::Attributes a;
          const ir::Shape &t = o.operand_type(0).shape, &weight = o.operand_type(1).shape;
          const ir::Shape shape = ir::transposed_shape(o.attributes(), t, weight, a);
          const ir::Convolution c = ir::convolution_onto(a, shape, weight, t);
          poplin::ConvParams p = poplin::getGradientParams(convolution_params(a, c, ir::DType::float16));
          p.outputType = poplar::FLOAT;
          const poplar::Tensor y =
              poplin::convolution(o.graph(), float8_decoded(o, 0, poplar::HALF), grouped_weights(float8_decoded(o, 1, poplar::HALF), c), p,
                                  true, o.program(), o.name(), convolution_options(o.attributes(), o.settings()), &o.planning());
          const Any scaled = pe::Cast(pe::Mul(pe::_1, pe::_2), poplar::HALF);
          o.result(0, popops::map(o.graph(), scaled, {y, power_of_two(o, 2)}, o.program(), o.name() + "/scaled"));
        },
};

}  // namespace pando::lower
