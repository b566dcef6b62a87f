#include "ir/shared/windows/convolution.h"

namespace pando::ir {

extern const OpRow op_conv_weight_grad;
constexpr OpRow op_conv_weight_grad = checked({
    .name = "conv_weight_grad",
    .doc = "The gradient of conv for its weights, which had shape `shape`, from the result's gradient and the data.",
    .operands = {{{"dy", any_floating}, {"t", any_floating}}},
    .attributes = {{{"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"groups", AttributeKind::integer, false},
                    {"pad_type", AttributeKind::text, false},
                    {"available_memory_proportions", AttributeKind::numbers, false},
                    {"partials_types", AttributeKind::texts, false},
                    {"enable_conv_dithering", AttributeKind::ints, false},
                    {"shape", AttributeKind::ints}}},
    .infer =
        [](Inference& in) {
          const Shape shape = in.attributes().ints("shape");
          const Shape y = convolution_of(in, in.shape(1), shape).output_shape();
          if (y != in.shape(0) || in.dtype(0) != in.dtype(1)) {
            in.reject("conv-gradient", "a convolution of {} with {} gives {}; the gradient has {}", to_string(in.shape(1)),
                      to_string(shape), to_string(y), to_string(in.shape(0)));
          }
          in.result(in.dtype(0), shape);
        },
    .reference =
        [](Evaluation& e) {
          const Convolution c = convolution_of(e.attributes(), e.operand(1).shape(), e.attributes().ints("shape"));
          e.result(convolve(e, c, Role::output, Role::input, Role::weight));
        },
    .cost =
        [](const Inference& in) {
          return convolution_cost(convolution_of(in.attributes(), in.shape(1), in.attributes().ints("shape")), in);
        },
    .samples = [] { return convolution_gradient_samples(Role::input); },
    .popart_type = "ConvWeightsGrad",
    .subscripts = [](const SubscriptsOf& o) {
      Subscripts s = o.blank();
      convolution_subscripts(s, o.operand(1), o.result(), s.operands[1], s.results[0], s.operands[0]);
      return s;
    },
    .phase = OpPhase::backward,
    .on_matrix_units = true,
});

}  // namespace pando::ir
