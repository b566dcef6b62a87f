#include "ir/shared/windows/convolution.h"

namespace pando::ir {

extern const OpRow op_conv_input_grad;
constexpr OpRow op_conv_input_grad = checked({
    .name = "conv_input_grad",
    .doc = "The gradient of conv for its data, which had shape `shape`, from the result's gradient and the weights.",
    .operands = {{{"dy", any_floating}, {"weight", any_floating}}},
    .attributes = {{{"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"groups", AttributeKind::integer, false},
                    {"pad_type", AttributeKind::text, false},
                    {"available_memory_proportions", AttributeKind::numbers, false},
                    {"partials_types", AttributeKind::texts, false},
                    {"enable_conv_dithering", AttributeKind::ints, false},
                    {"shape", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Shape shape = in.attributes().ints("shape");
      const Shape y = convolution_of(in, shape, in.shape(1)).output_shape(), &dy = in.shape(0);
      bool fits = dy.size() == y.size() && in.dtype(0) == in.dtype(1);
      // A transposed convolution with output padding has fewer windows than fit.
      for (std::size_t d = 0; fits && d < y.size(); ++d) fits = d < 2 ? dy[d] == y[d] : dy[d] <= y[d];
      if (!fits) {
        in.reject("conv-gradient", "a convolution of {} with {} gives {}; the gradient has {}", to_string(shape), to_string(in.shape(1)),
                  to_string(y), to_string(dy));
      }
      in.result(in.dtype(0), shape);
    },
    .reference = [](Evaluation& e) {
      const Convolution c = convolution_onto(e.attributes(), e.attributes().ints("shape"), e.operand(1).shape(), e.operand(0).shape());
      e.result(convolve(e, c, Role::output, Role::weight, Role::input));
    },
    .cost = [](const Inference& in) {
      return convolution_cost(convolution_onto(in.attributes(), in.attributes().ints("shape"), in.shape(1), in.shape(0)), in);
    },
    .samples = [] { return convolution_gradient_samples(Role::weight); },
    .popart_type = "ConvDataGrad",
    .subscripts = [](const SubscriptsOf& o) {
      Subscripts s = o.blank();
      convolution_subscripts(s, o.result(), o.operand(1), s.results[0], s.operands[1], s.operands[0]);
      return s;
    },
    .phase = OpPhase::backward,
    .on_matrix_units = true,
});

}  // namespace pando::ir
