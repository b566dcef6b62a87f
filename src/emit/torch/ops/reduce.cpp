#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"

#include <fmt/format.h>

namespace pando::emit {

using namespace ir;

namespace reduce_rows {

namespace {

std::string keepdims(const Call& c) { return c.attribute("keepdims", "False"); }

// FUNCTION(x, dim=(0, 1), keepdim=True). No axes: each element by itself.
std::string over_axes(const Call& c, const std::string& function, const std::string& x, const std::string& more = "") {
  if (c.attributes().ints("axis").empty()) return fmt::format("{}({}.unsqueeze(-1), dim=-1{})", function, x, more);
  return fmt::format("{}({}, dim={}, keepdim={}{})", function, x, py_tuple(c.attributes().ints("axis")), keepdims(c), more);
}

std::string sum_of(const Call& c, const std::string& x) {
  const DType t = c.result().dtype;
  return over_axes(c, "torch.sum", x, is_integer(t) ? ", dtype=" + py_dtype(t) : "");
}

std::string as_result(const Call& c, const std::string& text) {
  return is_integer(c.type(0).dtype) ? fmt::format("{}.to({})", text, py_dtype(c.result().dtype)) : text;
}

// Of integers, computed as float64.
std::string number(const Call& c) { return is_integer(c.type(0).dtype) ? c.x(0) + ".to(torch.float64)" : c.x(0); }

constexpr TorchRow kRows[] = {
    {.op = "argmax", .form = "functions.position_of_extreme({0}, {dim}, {keepdim|False}, largest=True)"},
    {.op = "argmin", .form = "functions.position_of_extreme({0}, {dim}, {keepdim|False}, largest=False)"},
    {.op = "cumsum", .form = "torch.cumsum({0}, dim={dim})"},
    {.op = "histogram", .form = "functions.histogram({0}, {levels}, {absolute_of_input})"},
    {.op = "l1", .write = [](const Call& c) { return sum_of(c, fmt::format("torch.abs({})", c.x(0))); }},
    {.op = "l2",
     .write =
         [](const Call& c) {
           return as_result(c, fmt::format("torch.sqrt({})", over_axes(c, "torch.sum", fmt::format("torch.square({})", number(c)))));
         }},
    {.op = "lamb_square", .form = "torch.sum(torch.square({0}.to(torch.float32)))"},
    {.op = "logsum",
     .write = [](const Call& c) { return as_result(c, fmt::format("torch.log({})", over_axes(c, "torch.sum", number(c)))); }},
    {.op = "logsumexp", .write = [](const Call& c) { return as_result(c, over_axes(c, "torch.logsumexp", number(c))); }},
    {.op = "max", .write = [](const Call& c) { return over_axes(c, "torch.amax", c.x(0)); }},
    {.op = "mean", .write = [](const Call& c) { return as_result(c, over_axes(c, "torch.mean", number(c))); }},
    {.op = "median", .form = "functions.median({0}, {axis}, {keepdims|False})"},
    {.op = "min", .write = [](const Call& c) { return over_axes(c, "torch.amin", c.x(0)); }},
    {.op = "prod", .form = "functions.product({0}, {axis}, {keepdims|False})"},
    {.op = "sum", .write = [](const Call& c) { return sum_of(c, c.x(0)); }},
    {.op = "sumsquare", .write = [](const Call& c) { return sum_of(c, fmt::format("torch.square({})", c.x(0))); }},
    {.op = "topk", .form = "functions.topk({0}, {k}, {axis}, {largest})"},
};

}  // namespace

}  // namespace reduce_rows

extern const std::span<const TorchRow> torch_reduce;
const std::span<const TorchRow> torch_reduce = reduce_rows::kRows;

}  // namespace pando::emit
