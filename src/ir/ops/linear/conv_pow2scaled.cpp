#include "ir/shared/matmul.h"
#include "ir/shared/windows/convolution.h"

namespace pando::ir {

extern const OpRow op_conv_pow2scaled;
constexpr OpRow op_conv_pow2scaled = checked({
    .name = "conv_pow2scaled",
    .doc = "Convolution of float8 tensors, as float16, times 2^log2_scale. Shapes as conv's.",
    .signature = "conv_pow2scaled(t: Tensor, weight: Tensor, log2_scale: Tensor, stride: Optional[Tuple[int]]=(1, 1), padding: "
                 "Optional[Tuple[int]]=(0, 0, 0, 0), "
                 "dilation: Optional[Tuple[int]]=(1, 1), groups: Optional[int]=1, pad_type: Optional[PadType]='not_set', "
                 "available_memory_proportions: Optional[List[float]]=None, "
                 "enable_conv_dithering: Optional[List[int]]=None) -> Tensor",
    .module = "conv",
    .operands = {{{"t", any_float8}, {"weight", any_float8}, {"log2_scale", set_of(DType::int32)}}},
    .attributes = {{{"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"groups", AttributeKind::integer, false},
                    {"pad_type", AttributeKind::text, false},
                    {"available_memory_proportions", AttributeKind::numbers, false},
                    {"enable_conv_dithering", AttributeKind::ints, false}}},
    .infer =
        [](Inference& in) {
          check_log2_scale(in, 2);
          in.result(DType::float16, convolution_of(in, in.shape(0), in.shape(1)).output_shape());
        },
    .reference =
        [](Evaluation& e) {
          const Convolution c = convolution_of(e.attributes(), e.operand(0).shape(), e.operand(1).shape());
          e.result(convolve(e, c, Role::input, Role::weight, Role::output, log2_scale_of(e, 2)));
        },
    .differentiable = Differentiable::rejected,
    .cost = [](const Inference& in) { return convolution_cost(convolution_of(in.attributes(), in.shape(0), in.shape(1)), in); },
    .samples =
        [] {
          Sample s = convolution_samples()[0];
          s.operands[0].dtype = DType::float8_143;
          s.operands[1].dtype = DType::float8_152;
          s.operands.push_back({DType::int32, {}, 0, 0, {-1}});
          return std::vector{s};
        },
    .popart_type = "Conv",
    .subscripts = conv_subscripts,
    .on_matrix_units = true,
});

}  // namespace pando::ir
