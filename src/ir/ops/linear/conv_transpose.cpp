#include "ir/shared/windows/convolution.h"

namespace pando::ir {

extern const OpRow op_conv_transpose;
constexpr OpRow op_conv_transpose = checked({
    .name = "conv_transpose",
    .doc = "Transposed convolution, as ONNX's ConvTranspose: what a convolution's gradient for its data is. Weights (channels, output "
           "channels of a group, kernel "
           "...). A spatial dimension becomes stride (n - 1) + output_padding + the kernel's span, without the padding at both ends; "
           "`output_shape` says the result "
           "and lets the padding follow.",
    .signature =
        "conv_transpose(t: Tensor, weight: Tensor, stride: Optional[Tuple[int]]=(1, 1), padding: Optional[Tuple[int]]=(0, 0, 0, 0), "
        "dilation: Optional[Tuple[int]]=(1, 1), groups: Optional[int]=1, pad_type: Optional[PadType]='not_set', output_padding: "
        "Optional[Tuple[int]]=(), "
        "output_shape: Optional[Tuple[int]]=(), available_memory_proportions: Optional[List[float]]=None, "
        "partials_types: Optional[List[str]]=None, enable_conv_dithering: Optional[List[int]]=None) -> Tensor",
    .module = "conv",
    .operands = {{{"t", any_floating}, {"weight", any_floating}}},
    .attributes = {{{"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"groups", AttributeKind::integer, false},
                    {"pad_type", AttributeKind::text, false},
                    {"output_padding", AttributeKind::ints, false},
                    {"output_shape", AttributeKind::ints, false},
                    {"available_memory_proportions", AttributeKind::numbers, false},
                    {"partials_types", AttributeKind::texts, false},
                    {"enable_conv_dithering", AttributeKind::ints, false}}},
    .infer =
        [](Inference& in) {
          if (in.dtype(0) != in.dtype(1))
            in.reject("different-types", "data of {} and weights of {}; cast one of them", name_of(in.dtype(0)), name_of(in.dtype(1)));
          Attributes a;
          in.result(in.dtype(0), transposed_shape(in, in.shape(0), in.shape(1), a));
        },
    .reference =
        [](Evaluation& e) {
          const Convolution c = transposed_convolution(e.attributes(), e.operand(0).shape(), e.operand(1).shape());
          e.result(convolve(e, c, Role::output, Role::weight, Role::input));
        },
    .expand =
        [](Expansion& x) {
          Attributes a;
          const Shape shape = transposed_shape(x.attributes(), x.type_of(x.operand(0)).shape, x.type_of(x.operand(1)).shape, a);
          a.set("shape", Ints(shape));
          x.result(x.op("conv_input_grad", {x.operand(0), x.operand(1)}, a));
        },
    .cost = [](const Inference& in) { return convolution_cost(transposed_convolution(in.attributes(), in.shape(0), in.shape(1)), in); },
    .samples =
        [] {
          Sample a;
          a.operands = {{DType::float32, {1, 4, 3, 4}, -1, 1, {}}, {DType::float32, {4, 2, 3, 2}, -1, 1, {}}};
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
