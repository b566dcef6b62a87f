#include "lower/parts/op_lowering.h"
#include "lower/shared/windows/convolutions.h"

#include <poplin/ConvUtil.hpp>

namespace pando::lower {

extern const Row lower_conv_input_grad;
constexpr Row lower_conv_input_grad = {
    .name = "conv_input_grad",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poplin);
          const ir::Convolution c =
              ir::convolution_onto(o.attributes(), o.attributes().ints("shape"), o.operand_type(1).shape, o.operand_type(0).shape);
          const poplin::ConvParams p = poplin::getGradientParams(convolution_params(o.attributes(), c, o.operand_type(0).dtype));
          o.result(0, poplin::convolution(o.graph(), o.operand(0), grouped_weights(o.operand(1), c), p, true, o.program(), o.name(),
                                          convolution_options(o.attributes(), o.settings()), &o.planning()));
        },
};

}  // namespace pando::lower
