#include "ir/shared/matmul.h"
#include "ir/shared/windows/convolution.h"

namespace pando::ir {

extern const OpRow op_conv_transpose_pow2scaled;
constexpr OpRow op_conv_transpose_pow2scaled = checked({
    .name = "conv_transpose_pow2scaled",
    .doc = "Transposed convolution of float8 tensors, as float16, times 2^log2_scale. Shapes as conv_transpose's.",
    .signature = "conv_transpose_pow2scaled(t: Tensor, weight: Tensor, log2_scale: Tensor, stride: Optional[Tuple[int]]=(1, 1), padding: "
                 "Optional[Tuple[int]]=(0, 0, 0, 0), "
                 "dilation: Optional[Tuple[int]]=(1, 1), groups: Optional[int]=1, pad_type: Optional[PadType]='not_set', output_padding: "
                 "Optional[Tuple[int]]=(), "
                 "output_shape: Optional[Tuple[int]]=(), available_memory_proportions: Optional[List[float]]=None, "
                 "enable_conv_dithering: Optional[List[int]]=None) -> Tensor",
    .module = "conv",
    .operands = {{{"t", any_float8}, {"weight", any_float8}, {"log2_scale", set_of(DType::int32)}}},
    .attributes = {{{"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"groups", AttributeKind::integer, false},
                    {"pad_type", AttributeKind::text, false},
                    {"output_padding", AttributeKind::ints, false},
                    {"output_shape", AttributeKind::ints, false},
                    {"available_memory_proportions", AttributeKind::numbers, false},
                    {"enable_conv_dithering", AttributeKind::ints, false}}},
    .infer =
        [](Inference& in) {
          check_log2_scale(in, 2);
          Attributes a;
          in.result(DType::float16, transposed_shape(in, in.shape(0), in.shape(1), a));
        },
    .reference =
        [](Evaluation& e) {
          const Convolution c = transposed_convolution(e.attributes(), e.operand(0).shape(), e.operand(1).shape());
          e.result(convolve(e, c, Role::output, Role::weight, Role::input, log2_scale_of(e, 2)));
        },
    .cost = [](const Inference& in) { return convolution_cost(transposed_convolution(in.attributes(), in.shape(0), in.shape(1)), in); },
    .samples =
        [] {
          Sample a;
          a.operands = {{DType::float8_143, {1, 4, 3, 4}, -1, 1, {}}, {DType::float8_143, {4, 2, 3, 2}, -1, 1, {}}};
          a.operands.push_back({DType::int32, {}, 0, 0, {2}});
          a.attributes = {{"stride", Ints{2, 1}}, {"padding", Ints{1, 0, 0, 1}}};
          Sample b = a, c = a;
          b.attributes = {{"stride", Ints{2, 2}}, {"groups", std::int64_t{2}}, {"output_padding", Ints{1, 0}}};
          c.attributes = {{"stride", Ints{2, 2}}, {"output_shape", Ints{6, 8}}};
          return std::vector{a, b, c};
        },
    .popart_type = "ConvTranspose",
    .subscripts = conv_transpose_subscripts,
    .on_matrix_units = true,
});

}  // namespace pando::ir
