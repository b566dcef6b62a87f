#include "lower/parts/op_lowering.h"
#include "lower/shared/windows/convolutions.h"

namespace pando::lower {

extern const Row lower_conv_weight_grad;
constexpr Row lower_conv_weight_grad = {
    .name = "conv_weight_grad",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poplin);
          const ir::Convolution c = ir::convolution_of(o.attributes(), o.operand_type(1).shape, o.attributes().ints("shape"));
          const poplin::ConvParams p = convolution_params(o.attributes(), c, o.operand_type(0).dtype);
          o.result(0, poplin::calculateWeightDeltas(o.graph(), o.operand(0), o.operand(1), p, o.program(), o.name(),
                                                    convolution_options(o.attributes(), o.settings()), &o.planning()));
        },
};

}  // namespace pando::lower
