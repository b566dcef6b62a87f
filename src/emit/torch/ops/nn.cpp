#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"
#include "ir/shared/windows/pooling.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::emit {

using namespace ir;

namespace nn_rows {

namespace {

// (in, kernel, out, stride, dilation, in_dilation, before) of each axis.
std::string windows_text(const Call& c, const Shape& shape) {
  std::string out;
  for (const WindowAxis& w : pooling_of(c.attributes(), shape).windows) {
    out += fmt::format("{}({}, {}, {}, {}, {}, {}, {})", out.empty() ? "" : ", ", w.in, w.kernel, w.out, w.stride, w.dilation,
                       w.in_dilation, w.before);
  }
  return "[" + out + "]";
}

bool is_plain(const Windows& windows) {
  return std::all_of(windows.begin(), windows.end(), [](const WindowAxis& w) {
    return w.in_dilation == 1 && w.before >= 0 && w.before == w.after && 2 * w.before <= w.kernel &&
           w.out == (w.in + 2 * w.before - w.span()) / w.stride + 1;
  });
}

Ints column(const Windows& windows, std::int64_t WindowAxis::* member) {
  Ints all;
  for (const WindowAxis& w : windows) all.push_back(w.*member);
  return all;
}

std::string max_pool(const Call& c) {
  const Windows w = pooling_of(c.attributes(), c.type(0).shape).windows;
  if (!is_plain(w)) return fmt::format("functions.max_pool({}, {})", c.x(0), windows_text(c, c.type(0).shape));
  return fmt::format("F.max_pool{}d({}, {}, stride={}, padding={}, dilation={})", w.size(), c.x(0),
                     py_tuple(column(w, &WindowAxis::kernel)), py_tuple(column(w, &WindowAxis::stride)),
                     py_tuple(column(w, &WindowAxis::before)), py_tuple(column(w, &WindowAxis::dilation)));
}

std::string softmax(const Call& c) {
  const std::int64_t axis = c.attributes().integer("axis"), rank = c.type(0).rank();
  if (axis == rank - 1) return fmt::format("torch.softmax({}, dim={})", c.x(0), axis);
  return fmt::format("functions.softmax_from({}, {})", c.x(0), axis);
}

std::string softmax_grad(const Call& c) {
  const std::int64_t axis = c.attributes().integer("axis"), rank = c.type(0).rank();
  if (axis == rank - 1)
    return fmt::format("torch.ops.aten._softmax_backward_data({}, {}, {}, {})", c.x(1), c.x(0), axis, py_dtype(c.result().dtype));
  return fmt::format("functions.softmax_from_grad({}, {}, {})", c.x(0), c.x(1), axis);
}

std::string layer_norm(const Call& c) {
  if (c.type(0).rank() == 2)
    return fmt::format("F.layer_norm({}, ({},), {}, {}, {})", c.x(0), c.type(0).shape[1], c.x(1), c.x(2), c.attribute("eps"));
  return fmt::format("F.group_norm({}, 1, {}, {}, {})", c.x(0), c.x(1), c.x(2), c.attribute("eps"));
}

// ", ignore_index=..., reduction=..., log_prob=...".
std::string nll_options(const Call& c) {
  std::string out;
  if (c.attributes().has("ignore_index")) out += ", ignore_index=" + c.attribute("ignore_index");
  out += ", reduction=" + c.attribute("reduction");
  if (c.attributes().flag("log_prob")) out += ", log_prob=True";
  return out;
}

constexpr TorchRow kRows[] = {
    {.op = "average_pool",
     .write = [](const Call& c) { return fmt::format("functions.average_pool({}, {})", c.x(0), windows_text(c, c.type(0).shape)); }},
    {.op = "average_pool_grad",
     .write =
         [](const Call& c) {
           return fmt::format("functions.average_pool_grad({}, {}, {})", c.x(0), windows_text(c, c.result().shape),
                              py_tuple(c.result().shape));
         }},
    {.op = "batch_norm_inference",
     .write =
         [](const Call& c) {
           // Halfs are computed as float32.
           const bool half = c.result().dtype == DType::float16;
           const auto x = [&](std::size_t i) { return half ? c.x(i) + ".float()" : c.x(i); };
           return fmt::format("F.batch_norm({}, {}, {}, {}, {}, eps={}){}", x(0), x(3), x(4), x(1), x(2), c.attribute("epsilon"),
                              half ? ".half()" : "");
         }},
    {.op = "group_norm", .form = "functions.group_norm({0}, {1}, {2}, {num_groups}, {eps})"},
    {.op = "group_norm_grad", .form = "functions.group_norm_grad({0}, {1}, {2}, {3}, {4}, {num_groups})"},
    {.op = "layer_norm", .write = layer_norm},
    {.op = "max_pool", .write = max_pool},
    {.op = "max_pool_grad",
     .write =
         [](const Call& c) {
           return fmt::format("functions.max_pool_grad({}, {}, {})", c.x(0), c.x(2), windows_text(c, c.type(0).shape));
         }},
    {.op = "nll_grad",
     .write = [](const Call& c) { return fmt::format("functions.nll_grad({}, {}, {}{})", c.x(0), c.x(1), c.x(2), nll_options(c)); }},
    {.op = "nll_loss", .write = [](const Call& c) { return fmt::format("functions.nll_loss({}, {}{})", c.x(0), c.x(1), nll_options(c)); }},
    {.op = "nll_loss_with_softmax_grad",
     .write =
         [](const Call& c) {
           return fmt::format("functions.nll_loss_with_softmax_grad({}, {}, {}{})", c.x(0), c.x(1), c.scalar("loss_grad", 2, "1.0"),
                              nll_options(c));
         }},
    {.op = "softmax", .write = softmax},
    {.op = "softmax_grad", .write = softmax_grad},
};

}  // namespace

}  // namespace nn_rows

extern const std::span<const TorchRow> torch_nn;
const std::span<const TorchRow> torch_nn = nn_rows::kRows;

}  // namespace pando::emit
