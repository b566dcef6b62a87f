#include "onnx/operator.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

extern const Operator onnx_conv_transpose;
constexpr Operator onnx_conv_transpose = {
    .signature =
        "ConvTranspose(X, W, B?; auto_pad: text, dilations: ints, group: int, kernel_shape: ints, output_padding: "
        "ints, output_shape: ints, pads: ints, strides: ints) -> Y",
    .rule =
        [](Context& c) {
          const Shape data = c.shape_of(0), w = c.shape_of(1);
          if (data.size() < 3 || w.size() != data.size())
            c.reject(fmt::format("data of shape {} and weights of {}", ir::to_string(data), ir::to_string(w)));
          const std::size_t n = data.size() - 2;
          const Ints kernel(w.begin() + 2, w.end());
          if (const auto said = c.list("kernel_shape", n, 1); said && *said != kernel)
            c.reject(fmt::format("attribute 'kernel_shape' {} for weights of shape {}", ir::to_string(*said), ir::to_string(w)));
          const Ints strides = c.list("strides", n, 1).value_or(Ints(n, 1)), dilations = c.list("dilations", n, 1).value_or(Ints(n, 1));
          const Ints more = c.list("output_padding", n, 0).value_or(Ints(n, 0));
          std::optional<Ints> shape = c.list("output_shape", n, 1);
          if (const auto* all = c.node.integers("output_shape"); all != nullptr && all->size() == n + 2)
            shape = Ints(all->begin() + 2, all->end());
          Ints pads = c.list("pads", 2 * n, 0).value_or(Ints(2 * n, 0));
          const std::string automatic = c.word("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""});
          if (automatic == "VALID") pads.assign(2 * n, 0);
          Ints behind(n, 0);
          for (std::size_t d = 0; d < n; ++d) {
            const std::int64_t whole = strides[d] * (data[d + 2] - 1) + more[d] + (kernel[d] - 1) * dilations[d] + 1;
            if (automatic.starts_with("SAME") && !shape) pads[d] = -1;
            if (!shape && pads[d] != -1) continue;
            const std::int64_t wanted = shape ? (*shape)[d] : data[d + 2] * strides[d], all = whole - wanted;
            // More than there is: zeros are put behind.
            if (all < 0) behind[d] = -all;
            const std::int64_t cut = std::max<std::int64_t>(all, 0);
            pads[d] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
            pads[n + d] = cut - pads[d];
          }
          const std::int64_t groups = c.ranged("group", 1, 1, std::int64_t{1} << 30);
          if (w[0] != data[1] || w[0] % groups != 0)
            c.reject(fmt::format("{} channels and weights of shape {} for {} groups", data[1], ir::to_string(w), groups));
          // Without padding; what it cuts away is cut away afterwards, as output padding may be more than a stride.
          ValueId y = c.op("conv_transpose", {c.operand(0), c.operand(1)},
                           {{"stride", strides}, {"dilation", dilations}, {"groups", groups}, {"padding", Ints(2 * n, 0)}});
          Ints change(2 * data.size(), 0);
          for (std::size_t d = 0; d < n; ++d) {
            change[2 + d] = -pads[d];
            change[data.size() + 2 + d] = more[d] - pads[n + d] + behind[d];
          }
          y = c.composition("pad", {y}, {{"pads", change}});
          if (c.has(2)) y = c.op("add", {y, by_channel(c, c.operand(2), data.size())});
          c.give(y);
        },
    .limits = "more than three spatial dimensions",
};

}  // namespace pando::onnx
