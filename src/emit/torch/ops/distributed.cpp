#include "emit/torch/torch_row.h"

#include <fmt/format.h>

namespace pando::emit {

using ir::Traffic;

namespace distributed_rows {

namespace {

// The reduction of tensors that have all come to one device, for each result: what projection makes of a collective.
std::string reduced(const Call& c) {
  const std::string& op = c.attributes().text("op");
  std::string sum = c.x(0);
  for (std::size_t i = 1; i < c.operands(); ++i) {
    const std::string x = c.x(i);
    sum = op == "add" || op == "mean" ? sum + " + " + x : op == "mul" ? sum + " * " + x : fmt::format("torch.{}imum({}, {})", op, sum, x);
  }
  if (op == "mean") sum = fmt::format("({}) / {}", sum, c.operands());
  std::string all = sum;
  for (std::size_t i = 1; i < c.module().results(c.op()).size(); ++i) all += "\n" + sum;
  return all;
}

// Between devices: methods of runtime.py's Group, whose members are the devices that meet.
constexpr TorchRow kRows[] = {
    {.op = "all_gather_across", .traffic = Traffic::all_gather},
    {.op = "all_reduce", .write = reduced, .traffic = Traffic::all_reduce},
    {.op = "all_reduce_across", .traffic = Traffic::all_reduce},
    {.op = "all_reduce_identical_grad_inputs", .write = reduced, .traffic = Traffic::all_reduce},
    {.op = "all_reduce_identical_inputs", .form = "{0}", .shares = true, .moves = true, .on_each_device = true},
    {.op = "all_to_all_across", .traffic = Traffic::all_to_all},
    {.op = "broadcast_across", .traffic = Traffic::broadcast},
    {.op = "gather_across", .traffic = Traffic::gather},
    {.op = "ipu_copy", .form = "{0}", .shares = true, .moves = true},
    {.op = "reduce_across", .traffic = Traffic::reduce},
    {.op = "reduce_scatter_across", .traffic = Traffic::reduce_scatter},
    {.op = "scatter_across", .traffic = Traffic::scatter},
    {.op = "send", .form = "{0}", .shares = true, .moves = true},
};

}  // namespace

}  // namespace distributed_rows

extern const std::span<const TorchRow> torch_distributed;
const std::span<const TorchRow> torch_distributed = distributed_rows::kRows;

}  // namespace pando::emit
