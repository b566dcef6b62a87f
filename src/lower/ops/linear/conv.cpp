#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/windows/convolutions.h"

#include <poplin/Epilogue.hpp>

namespace pando::lower {

extern const Row lower_conv;
constexpr Row lower_conv = {
    .name = "conv",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poplin);
          const ir::Convolution c = ir::convolution_of(o.attributes(), o.operand_type(0).shape, o.operand_type(1).shape);
          const poplin::ConvParams p = convolution_params(o.attributes(), c, o.operand_type(0).dtype);
          o.result(0, poplin::convolution(o.graph(), o.operand(0), grouped_weights(o.operand(1), c), p, false, o.program(), o.name(),
                                          convolution_options(o.attributes(), o.settings()), &o.planning()));
        },
    .finish =
        [](OpLowering& o, Epilogue& e) {
          o.need(Library::poplin);
          const ir::Convolution c = ir::convolution_of(o.attributes(), o.operand_type(0).shape, o.operand_type(1).shape);
          const poplin::ConvParams p = convolution_params(o.attributes(), c, o.operand_type(0).dtype);
          return poplin::convolutionWithEpilogue(o.graph(), o.operand(0), grouped_weights(o.operand(1), c), p,
                                                 {e.results, e.operands, e.product}, e.outs, o.program(), o.name(),
                                                 convolution_options(o.attributes(), o.settings()), &o.planning());
        },
    .layout =
        [](const LayoutRequest& r) -> poplar::Tensor {
          const ir::Type &input = r.module.type_of(r.module.operand(r.op, 0)), &weight = r.module.type_of(r.module.operand(r.op, 1));
          const ir::Attributes& a = r.module.attributes(r.op);
          const ir::Convolution c = ir::convolution_of(a, input.shape, weight.shape);
          const poplin::ConvParams p = convolution_params(a, c, input.dtype);
          r.libraries.need(Library::poplin);
          const poplar::OptionFlags options = convolution_options(a, r.libraries.settings());
          if (r.operand == 0) return poplin::createInput(r.graph, p, r.name, options, &r.libraries.planning());
          return poplin::createWeights(r.graph, p, r.name, options, &r.libraries.planning())
              .reshape(extents(weight.shape));
        },
    .parts = Row::Parts::split,
};

}  // namespace pando::lower
