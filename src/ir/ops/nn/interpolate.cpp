#include "ir/shared/windows/interpolation.h"

namespace pando::ir {

extern const OpRow op_interpolate;
constexpr OpRow op_interpolate = checked({
    .name = "interpolate",
    .doc = "Resizes every dimension to floor(size scale), as ONNX's Resize. `mode`: nearest, linear or cubic (with coefficient -0.75). "
           "Result position x lies at, with "
           "`coordinate_transformation_mode`, half_pixel: (x + 0.5) / scale - 0.5; pytorch_half_pixel: the same, 0 where the result has "
           "size 1; asymmetric: x / scale; "
           "align_corners and tf_crop_and_resize: x (size - 1) / (result's size - 1). `nearest_mode`: round_prefer_floor, "
           "round_prefer_ceil, floor or ceil.",
    .signature = "interpolate(t: Tensor, scale_factor: Optional[Tuple[float]]=(1.0, 1.0, 1.0, 1.0), mode: "
                 "Optional[InterpolateType]='nearest', nearest_mode: "
                 "Optional[InterpolateNearestType]='round_prefer_floor', coordinate_transformation_mode: "
                 "Optional[InterpolateCoordinateTransformationType]='half_pixel') -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"scale_factor", AttributeKind::numbers},
                    {"mode", AttributeKind::text, false},
                    {"nearest_mode", AttributeKind::text, false},
                    {"coordinate_transformation_mode", AttributeKind::text, false}}},
    .infer = [](Inference& in) { in.result(in.dtype(0), interpolated_shape(in, in.shape(0))); },
    .reference = [](Evaluation& e) { e.result(interpolated(e, e.operand(0).shape(), e.result_type().shape, false)); },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          Attributes a = g.attributes();
          a.set("shape", Ints(g.operand_type(0).shape));
          g.give(0, g.op("interpolate_grad", {g.grad()}, a));
        },
    .samples = interpolation_samples,
    .popart_type = "Resize",
    .subscripts = leading_two_subscripts,
});

}  // namespace pando::ir
