#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"
#include "ir/meaning/scatters.h"

#include <fmt/format.h>

namespace pando::emit {

using namespace ir;

namespace index_rows {

namespace {

std::string gather(const Call& c) {
  const std::int64_t axis = c.attributes().integer("axis");
  const bool zero = c.attributes().flag("zero_OOR"), grouped = c.attributes().integer("group_size", 1) > 1;
  if (grouped) return fmt::format("functions.grouped_gather({}, {}, {}, {})", c.x(0), c.x(1), axis, zero ? "True" : "False");
  if (zero) return fmt::format("functions.gather_or_zero({}, {}, {})", c.x(0), c.x(1), axis);
  if (axis == 0 && c.type(0).rank() == 2) return fmt::format("functions.rows({}, {})", c.x(0), c.x(1));
  return fmt::format("functions.gather({}, {}, {})", c.x(0), c.x(1), axis);
}

std::string scatter_reduce(const Call& c) {
  const bool grouped = c.attributes().integer("group_size", 1) > 1;
  const std::int64_t axis = c.attributes().integer("axis");
  const Shape aligned = aligned_indices(c.type(0).shape, c.type(1).shape, axis, grouped);
  const std::string initial = c.operands() > 2 ? c.x(2) : "None", reduction = c.attributes().text("reduction");
  // A sum of slices, as of an embedding's gradient.
  if (reduction == "sum" && !grouped && c.type(1).rank() == 1 && initial == "None")
    return fmt::format("functions.sum_slices({}, {}, {}, {})", c.x(0), c.x(1), axis, c.result().shape[static_cast<std::size_t>(axis)]);
  return fmt::format("functions.scatter_reduce({}, {}.reshape({}), {}, {}, {}, {}, {})", c.x(0), c.x(1), py_tuple(aligned),
                     py_text(reduction), initial, axis, py_tuple(c.result().shape), py_dtype(c.result().dtype));
}

constexpr TorchRow kRows[] = {
    {.op = "dynamic_slice", .form = "functions.dynamic_slice({0}, {1}, {axes}, {sizes})", .moves = true},
    {.op = "dynamic_update", .form = "functions.dynamic_update({0}, {1}, {2}, {axes}, {sizes})", .moves = true},
    {.op = "gather", .write = gather, .moves = true},
    {.op = "gather_elements", .form = "functions.gather_elements({0}, {1}, {axis})", .moves = true},
    {.op = "grouped_scatter_reduce", .write = scatter_reduce},
    {.op = "groupedgather", .write = gather, .moves = true},
    {.op = "scatter", .form = "functions.scatter({0}, {1}, {2}, {axis})", .moves = true},
    {.op = "scatter_reduce", .write = scatter_reduce},
    {.op = "tied_gather", .write = gather, .moves = true},
};

}  // namespace

}  // namespace index_rows

extern const std::span<const TorchRow> torch_index;
const std::span<const TorchRow> torch_index = index_rows::kRows;

}  // namespace pando::emit
