#include "ir/shared/windows/convolution.h"

namespace pando::ir {

extern const OpRow op_conv;
constexpr OpRow op_conv = checked({
    .name = "conv",
    .doc = "Convolution (cross-correlation) of data (batch, channels, spatial ...) with weights (output channels, channels of a group, "
           "kernel ...), of one to "
           "three spatial dimensions. Padding: all befores, then all afters. The number of groups follows from the shapes. Lists at their "
           "default fit any number "
           "of dimensions.",
    .signature = "conv(t: Tensor, weight: Tensor, stride: Optional[Tuple[int]]=(1, 1), padding: Optional[Tuple[int]]=(0, 0, 0, 0), "
                 "dilation: Optional[Tuple[int]]=(1, 1), groups: Optional[int]=1, pad_type: Optional[PadType]='not_set', "
                 "available_memory_proportions: Optional[List[float]]=None, "
                 "partials_types: Optional[List[str]]=None, enable_conv_dithering: Optional[List[int]]=None) -> Tensor",
    .operands = {{{"t", any_floating}, {"weight", any_floating}}},
    .attributes = {{{"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"groups", AttributeKind::integer, false},
                    {"pad_type", AttributeKind::text, false},
                    {"available_memory_proportions", AttributeKind::numbers, false},
                    {"partials_types", AttributeKind::texts, false},
                    {"enable_conv_dithering", AttributeKind::ints, false}}},
    .infer =
        [](Inference& in) {
          if (in.dtype(0) != in.dtype(1))
            in.reject("different-types", "data of {} and weights of {}; cast one of them", name_of(in.dtype(0)), name_of(in.dtype(1)));
          in.result(in.dtype(0), convolution_of(in, in.shape(0), in.shape(1)).output_shape());
        },
    .reference =
        [](Evaluation& e) {
          e.result(convolve(e, convolution_of(e.attributes(), e.operand(0).shape(), e.operand(1).shape()), Role::input, Role::weight,
                            Role::output));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          Attributes a = g.attributes();
          a.set("shape", Ints(g.operand_type(0).shape));
          if (g.wants(0)) g.give(0, g.op("conv_input_grad", {g.grad(), g.operand(1)}, a));
          a.set("shape", Ints(g.operand_type(1).shape));
          if (g.wants(1)) g.give(1, g.op("conv_weight_grad", {g.grad(), g.operand(0)}, a));
        },
    .cost = [](const Inference& in) { return convolution_cost(convolution_of(in.attributes(), in.shape(0), in.shape(1)), in); },
    .samples = convolution_samples,
    .popart_type = "Conv",
    .subscripts = conv_subscripts,
    .product = Product::windows,
    .on_matrix_units = true,
});

}  // namespace pando::ir
