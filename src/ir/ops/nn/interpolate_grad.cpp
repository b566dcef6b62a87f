#include "ir/shared/windows/interpolation.h"

namespace pando::ir {

extern const OpRow op_interpolate_grad;
constexpr OpRow op_interpolate_grad = checked({
    .name = "interpolate_grad",
    .doc = "The gradient of interpolate for its operand, which had shape `shape`.",
    .operands = {{{"dy", any_floating}}},
    .attributes = {{{"scale_factor", AttributeKind::numbers},
                    {"mode", AttributeKind::text, false},
                    {"nearest_mode", AttributeKind::text, false},
                    {"coordinate_transformation_mode", AttributeKind::text, false},
                    {"shape", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Shape shape = in.attributes().ints("shape"), y = interpolated_shape(in, shape);
      if (in.shape(0) != y)
        in.reject("interpolate-gradient", "the result has shape {}, its gradient {}", to_string(y), to_string(in.shape(0)));
      in.result(in.dtype(0), shape);
    },
    .reference = [](Evaluation& e) { e.result(interpolated(e, e.attributes().ints("shape"), e.operand(0).shape(), true)); },
    .samples = [] {
      std::vector<Sample> all = interpolation_samples();
      for (Sample& s : all) {
        Shape& shape = s.operands[0].shape;
        s.attributes.set("shape", Ints(shape));
        for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = resized(shape[d], s.attributes.floats("scale_factor")[d]);
      }
      Floats& wide = all.back().operands[0].values;
      wide.assign(static_cast<std::size_t>(elements_of(all.back().operands[0].shape)), 0.5);
      wide[wide.size() / 2] = NAN;
      return all;
    },
    .popart_type = "ResizeGrad",
    .subscripts = leading_two_subscripts,
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
