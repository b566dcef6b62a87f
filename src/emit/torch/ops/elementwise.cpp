#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"

#include <fmt/format.h>

namespace pando::emit {

using namespace ir;

namespace elementwise_rows {

namespace {

std::string folded(const Call& c, std::string_view function) {
  std::string out = c.x(0);
  for (std::size_t i = 1; i < c.operands(); ++i) out = fmt::format("{}({}, {})", function, out, c.x(i));
  return out;
}

std::string cast(const Call& c) {
  const DType from = c.type(0).dtype, to = c.result().dtype;
  if (from == to) return c.x(0);
  if (is_floating(from) && is_integer(to)) return fmt::format("functions.float_to_integer({}, {})", c.x(0), py_dtype(to));
  return fmt::format("{}.to({})", c.x(0), py_dtype(to));
}

std::string scaled_add(const Call& c) {
  const std::string a = c.scalar("a", 2, "1.0"), b = c.scalar("b", 2, "1.0");
  const std::string sum = (a == "1.0" ? c.x(0) : a + " * " + c.x(0)) + " + " + (b == "1.0" ? c.x(1) : b + " * " + c.x(1));
  const bool plain = c.type(0).dtype == c.type(1).dtype && is_floating(c.type(0).dtype);
  return plain ? sum
               : fmt::format("functions.mixed({}, lambda X, Y: {} * X + {} * Y, {}, {})", py_dtype(c.result().dtype), a, b, c.x(0), c.x(1));
}

std::string clip(const Call& c) {
  const std::string low = c.attribute("min", "None"), high = c.attribute("max", "None");
  return low == "None" && high == "None" ? c.x(0)
                                         : fmt::format("torch.clamp({}, {}, {}).to({})", c.x(0), low, high, py_dtype(c.result().dtype));
}

constexpr TorchRow kRows[] = {
    {.op = "abs", .form = "torch.abs({0})"},
    {.op = "add", .form = "{0} + {1}", .in_place = "{0}.add_({1})"},
    {.op = "add_n",
     .write =
         [](const Call& c) {
           std::string out = c.x(0);
           for (std::size_t i = 1; i < c.operands(); ++i) out += " + " + c.x(i);
           return out;
         },
     .shares = true},
    {.op = "atan2", .form = "torch.atan2({0}, {1})"},
    {.op = "bitwise_and", .form = "{0} & {1}"},
    {.op = "bitwise_not", .form = "~{0}"},
    {.op = "bitwise_or", .form = "{0} | {1}"},
    {.op = "bitwise_xor", .form = "{0} ^ {1}"},
    {.op = "cast", .write = cast, .shares = true},
    {.op = "ceil", .form = "torch.ceil({0})"},
    {.op = "clip", .write = clip, .shares = true},
    {.op = "cos", .form = "torch.cos({0})"},
    {.op = "detach", .form = "{0}", .shares = true, .moves = true},
    {.op = "div",
     .write =
         [](const Call& c) {
           return is_integer(c.type(0).dtype) ? fmt::format("functions.integer_division({}, {})", c.x(0), c.x(1)) : c.x(0) + " / " + c.x(1);
         }},
    {.op = "equal", .form = "{0} == {1}"},
    {.op = "erf", .form = "torch.erf({0})"},
    {.op = "exp", .form = "torch.exp({0})", .in_place = "{0}.exp_()"},
    {.op = "expm1", .form = "torch.expm1({0})"},
    {.op = "floor", .form = "torch.floor({0})"},
    {.op = "fmod",
     .write =
         [](const Call& c) {
           return is_integer(c.type(0).dtype) ? fmt::format("functions.integer_remainder({}, {})", c.x(0), c.x(1))
                                              : fmt::format("torch.fmod({}, {})", c.x(0), c.x(1));
         }},
    {.op = "gelu", .form = "F.gelu({0}, approximate=\"tanh\")"},
    {.op = "gelu_grad", .form = "torch.ops.aten.gelu_backward({1}, {0}, approximate=\"tanh\")"},
    {.op = "geluerf", .form = "F.gelu({0})"},
    {.op = "geluerf_grad", .form = "torch.ops.aten.gelu_backward({1}, {0})"},
    {.op = "greater", .form = "{0} > {1}"},
    {.op = "identity", .form = "{0}", .shares = true, .moves = true},
    {.op = "increment_mod", .form = "functions.increment_mod({0}, {increment}, {modulus}, {:dtype})"},
    {.op = "isfinite", .form = "torch.isfinite({0})"},
    {.op = "isinf", .form = "torch.isinf({0})"},
    {.op = "isnan", .form = "torch.isnan({0})"},
    {.op = "less", .form = "{0} < {1}"},
    {.op = "log", .form = "torch.log({0})"},
    {.op = "log1p", .form = "torch.log1p({0})"},
    {.op = "log2", .form = "torch.log2({0})"},
    {.op = "logical_and", .form = "{0} & {1}"},
    {.op = "logical_not", .form = "~{0}"},
    {.op = "logical_or", .form = "{0} | {1}"},
    {.op = "maximum", .write = [](const Call& c) { return folded(c, "torch.maximum"); }, .shares = true},
    {.op = "minimum", .write = [](const Call& c) { return folded(c, "torch.minimum"); }, .shares = true},
    {.op = "mul", .form = "{0} * {1}"},
    {.op = "negate", .form = "-{0}"},
    {.op = "not_equal", .form = "{0} != {1}"},
    {.op = "pow",
     .write =
         [](const Call& c) {
           if (is_integer(c.type(0).dtype))
             return fmt::format("functions.integer_power({}, {}, {})", c.x(0), c.x(1), py_dtype(c.result().dtype));
           return c.type(0).dtype == c.type(1).dtype ? fmt::format("torch.pow({}, {})", c.x(0), c.x(1))
                                                     : fmt::format("torch.pow({}, {}.to({}))", c.x(0), c.x(1), py_dtype(c.result().dtype));
         }},
    {.op = "pow2scale_cast_from_fp8", .form = "functions.from_float8({0}, {1}, {:dtype})"},
    {.op = "pow2scale_cast_to_fp8", .form = "functions.to_float8({0}, {1}, {:dtype})"},
    {.op = "reciprocal", .form = "torch.reciprocal({0})"},
    {.op = "relu", .form = "torch.relu({0})", .in_place = "{0}.relu_()"},
    {.op = "relu_grad", .form = "torch.ops.aten.threshold_backward({1}, {0}, 0)"},
    {.op = "round", .form = "torch.round({0})"},
    {.op = "rsqrt", .form = "torch.rsqrt({0})"},
    {.op = "scaled_add", .write = scaled_add},
    {.op = "shift_left", .form = "functions.shift_left({0}, {1}, {:dtype})"},
    {.op = "shift_right", .form = "functions.shift_right({0}, {1}, {:dtype})"},
    {.op = "sigmoid", .form = "torch.sigmoid({0})"},
    {.op = "sigmoid_grad", .form = "torch.ops.aten.sigmoid_backward({1}, {0})"},
    {.op = "sign", .form = "torch.sign({0})"},
    {.op = "sin", .form = "torch.sin({0})"},
    {.op = "sqrt", .form = "torch.sqrt({0})"},
    {.op = "square", .form = "torch.square({0})"},
    {.op = "sub", .form = "{0} - {1}", .in_place = "{0}.sub_({1})"},
    {.op = "swish", .form = "F.silu({0})"},
    {.op = "swish_grad", .form = "torch.ops.aten.silu_backward({1}, {0})"},
    {.op = "tanh", .form = "torch.tanh({0})"},
    {.op = "tanh_grad", .form = "torch.ops.aten.tanh_backward({1}, {0})"},
    {.op = "where", .form = "torch.where({0}, {1}, {2})", .moves = true},
};

}  // namespace

}  // namespace elementwise_rows

extern const std::span<const TorchRow> torch_elementwise;
const std::span<const TorchRow> torch_elementwise = elementwise_rows::kRows;

}  // namespace pando::emit
