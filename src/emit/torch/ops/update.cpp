#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"
#include "ir/shared/adam.h"

#include <fmt/format.h>

namespace pando::emit {

using namespace ir;

namespace update_rows {

namespace {

bool is_plain(const Call& c) { return is_floating(c.type(0).dtype) && c.type(0).dtype == c.type(1).dtype; }

// An expression of t, X and the scalar's text.
std::string updated(const Call& c, std::string_view scalar, std::string_view otherwise, std::string_view expression) {
  const std::string f = c.scalar(scalar, 2, otherwise);
  if (is_plain(c)) return fmt::format(fmt::runtime(expression), c.x(0), c.x(1), f);
  return fmt::format("functions.mixed({}, lambda t, X: {}, {}, {})", py_dtype(c.result().dtype),
                     fmt::format(fmt::runtime(expression), "t", "X", f), c.x(0), c.x(1));
}

std::string adam(const Call& c, std::string_view function) {
  const Attributes& a = c.attributes();
  const std::size_t tensors = adam_tensors(a);
  const auto weight = adam_tensor(a, "weight"), step = adam_tensor(a, "time_step");
  std::string text = fmt::format("functions.{}({}, {}", function, c.x(0), c.x(1));
  if (weight) text += ", weight=" + c.x(*weight);
  if (step) text += ", time_step=" + c.x(*step);
  for (const std::string_view name : {"weight_decay", "beta1", "beta2", "epsilon"}) {
    const std::string value = c.scalar(name, tensors, "");
    if (!value.empty()) text += fmt::format(", {}={}", name, value);
  }
  return text + fmt::format(", dtype={})", py_dtype(c.result().dtype)) + (step ? "" : "[0]");
}

constexpr TorchRow kRows[] = {
    {.op = "accumulate_", .write = [](const Call& c) { return updated(c, "f", "1.0", "{0} + {2} * {1}"); }},
    {.op = "accumulate_mean_", .write = [](const Call& c) { return updated(c, "step", "1.0", "{2} / ({2} + 1) * {0} + {1} / ({2} + 1)"); }},
    {.op = "accumulate_moving_average_", .write = [](const Call& c) { return updated(c, "f", "1.0", "{2} * {0} + (1 - {2}) * {1}"); }},
    {.op = "accumulate_moving_average_square_",
     .write = [](const Call& c) { return updated(c, "f", "1.0", "{2} * {0} + (1 - {2}) * torch.square({1})"); }},
    {.op = "accumulate_square_", .write = [](const Call& c) { return updated(c, "f", "1.0", "{0} + {2} * torch.square({1})"); }},
    {.op = "accumulator_scale_",
     .write =
         [](const Call& c) {
           const std::string f = c.scalar("f", 1, "1.0");
           if (c.attributes().has("f") && c.attributes().number("f") == 0) return fmt::format("torch.zeros_like({})", c.x(0));
           if (is_floating(c.type(0).dtype)) return f + " * " + c.x(0);
           return fmt::format("functions.mixed({}, lambda t: {} * t, {})", py_dtype(c.result().dtype), f, c.x(0));
         }},
    {.op = "accumulator_zero_", .form = "torch.zeros_like({0})", .in_place = "{0}.zero_()", .moves = true},
    {.op = "adam_updater", .write = [](const Call& c) { return adam(c, "adam_updater"); }},
    {.op = "adam_var_update",
     .write =
         [](const Call& c) {
           return fmt::format("functions.adam_var_update({}, {}, {}, {}, learning_rate={}, max_weight_norm={}, dtype={})", c.x(0), c.x(1),
                              c.x(2), c.x(3), c.scalar("learning_rate", 4, "1.0"), c.scalar("max_weight_norm", 4, "float(\"inf\")"),
                              py_dtype(c.result().dtype));
         }},
    {.op = "adamax_updater", .write = [](const Call& c) { return adam(c, "adamax_updater"); }},
    {.op = "copy_var_update_", .form = "{1}", .in_place = "{0}.copy_({1})", .shares = true, .moves = true},
    {.op = "lamb_updater", .write = [](const Call& c) { return adam(c, "adam_updater"); }},
    {.op = "sparse_accumulate_",
     .write =
         [](const Call& c) {
           return fmt::format("functions.sparse_accumulate({}, {}, {}, {}, {}, {})", c.x(0), c.x(1), c.x(2), c.attribute("axis"),
                              c.attributes().find("scalars") ? c.x(c.operands() - 1) : c.attribute("f", "1.0"), py_dtype(c.result().dtype));
         }},
};

}  // namespace

}  // namespace update_rows

extern const std::span<const TorchRow> torch_update;
const std::span<const TorchRow> torch_update = update_rows::kRows;

}  // namespace pando::emit
