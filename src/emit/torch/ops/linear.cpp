#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"
#include "ir/shared/windows/convolution.h"

#include <fmt/format.h>

namespace pando::emit {

using namespace ir;

namespace linear_rows {

namespace {

Ints column(const Windows& windows, std::int64_t WindowAxis::* member) {
  Ints all;
  for (const WindowAxis& w : windows) all.push_back(w.*member);
  return all;
}

// "stride=(2, 2), padding=((1, 1), (0, 0)), dilation=(1, 1), groups=1": the padding as all befores and all afters.
std::string windows_text(const Convolution& c) {
  return fmt::format("stride={}, padding=({}, {}), dilation={}, groups={}", py_tuple(column(c.windows, &WindowAxis::stride)),
                     py_tuple(column(c.windows, &WindowAxis::before)), py_tuple(column(c.windows, &WindowAxis::after)),
                     py_tuple(column(c.windows, &WindowAxis::dilation)), c.groups);
}

std::string conv(const Call& c, std::string_view scale = {}) {
  const Convolution k = convolution_of(c.attributes(), c.type(0).shape, c.type(1).shape);
  if (!scale.empty()) return fmt::format("functions.float8_conv({}, {}, {}, {})", c.x(0), c.x(1), scale, windows_text(k));
  bool even = true;
  for (const WindowAxis& w : k.windows) even = even && w.before == w.after && w.before >= 0;
  if (!even) return fmt::format("functions.conv({}, {}, {})", c.x(0), c.x(1), windows_text(k));
  return fmt::format("F.conv{}d({}, {}, stride={}, padding={}, dilation={}, groups={})", k.windows.size(), c.x(0), c.x(1),
                     py_tuple(column(k.windows, &WindowAxis::stride)), py_tuple(column(k.windows, &WindowAxis::before)),
                     py_tuple(column(k.windows, &WindowAxis::dilation)), k.groups);
}

std::string input_grad(const Call& c) {
  const Convolution k = convolution_onto(c.attributes(), c.attributes().ints("shape"), c.type(1).shape, c.type(0).shape);
  return fmt::format("functions.conv_input_grad({}, {}, {}, {})", c.x(0), c.x(1), py_tuple(c.result().shape), windows_text(k));
}

std::string weight_grad(const Call& c) {
  const Convolution k = convolution_of(c.attributes(), c.type(1).shape, c.attributes().ints("shape"));
  return fmt::format("functions.conv_weight_grad({}, {}, {}, {})", c.x(0), c.x(1), py_tuple(c.result().shape), windows_text(k));
}

std::string transpose_pow2scaled(const Call& c) {
  Attributes a;
  const Shape shape = transposed_shape(c.attributes(), c.type(0).shape, c.type(1).shape, a);
  const Convolution k = convolution_onto(a, shape, c.type(1).shape, c.type(0).shape);
  return fmt::format("functions.float8_conv_input_grad({}, {}, {}, {}, {})", c.x(0), c.x(1), c.x(2), py_tuple(c.result().shape),
                     windows_text(k));
}

std::string matmul(const Call& c) {
  const DType t = c.result().dtype;
  const std::string product = fmt::format("torch.matmul({}, {})", c.x(0), c.x(1));
  if (!is_floating(c.type(0).dtype)) return fmt::format("functions.integer_matmul({}, {}, {})", c.x(0), c.x(1), py_dtype(t));
  if (t == c.type(0).dtype) return product;
  // A wider result is added up in its own type.
  if (size_of(t) > size_of(c.type(0).dtype)) return fmt::format("torch.matmul({0}.to({2}), {1}.to({2}))", c.x(0), c.x(1), py_dtype(t));
  return fmt::format("{}.to({})", product, py_dtype(t));
}

constexpr TorchRow kRows[] = {
    {.op = "conv", .write = [](const Call& c) { return conv(c); }},
    {.op = "conv_input_grad", .write = input_grad},
    {.op = "conv_pow2scaled", .write = [](const Call& c) { return conv(c, c.x(2)); }},
    {.op = "conv_transpose_pow2scaled", .write = transpose_pow2scaled},
    {.op = "conv_weight_grad", .write = weight_grad},
    {.op = "matmul", .write = matmul},
    {.op = "matmul_grad",
     .write =
         [](const Call& c) {
           if (c.type(0).rank() == 2) return fmt::format("torch.matmul({1}, {0}.T)\ntorch.matmul({2}.T, {1})", c.x(1), c.x(2), c.x(0));
           return fmt::format("torch.matmul({1}, {0}.T)\ntorch.matmul({2}.flatten(0, -2).T, {1}.flatten(0, -2))", c.x(1), c.x(2), c.x(0));
         }},
    {.op = "matmul_pow2scaled", .form = "functions.float8_matmul({0}, {1}, {2})"},
};

}  // namespace

}  // namespace linear_rows

extern const std::span<const TorchRow> torch_linear;
const std::span<const TorchRow> torch_linear = linear_rows::kRows;

}  // namespace pando::emit
