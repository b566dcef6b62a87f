#include "emit/torch/torch_row.h"

namespace pando::emit {

namespace training_rows {

namespace {

constexpr TorchRow kRows[] = {
    // One line for each weight.
    {.op = "sgd", .form = "torch.sub({0}, {1}, alpha={lr})", .in_place = "{0}.sub_({1}, alpha={lr})"},
    {.op = "squared_loss", .form = "torch.square({0} - {1}) / {2}"},
    {.op = "squared_loss_grad", .form = "2 * ({0} - {1}) / {2}"},
};

}  // namespace

}  // namespace training_rows

extern const std::span<const TorchRow> torch_training;
const std::span<const TorchRow> torch_training = training_rows::kRows;

}  // namespace pando::emit
