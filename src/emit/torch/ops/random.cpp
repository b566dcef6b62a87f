#include "emit/torch/torch_row.h"

namespace pando::emit {

namespace random_rows {

namespace {

// The same numbers as Pando's: counted, not drawn (ir/random.h).
constexpr TorchRow kRows[] = {
    {.op = "create_random_seed", .form = "functions.create_random_seed({0}, {1})", .moves = true},
    {.op = "dropout", .form = "functions.dropout({0}, {1}, {p})", .moves = true},
    {.op = "random_normal", .form = "functions.random_normal({0}, {:shape}, {mean|0.0}, {std|1.0}, {:dtype})", .moves = true},
    {.op = "random_uniform", .form = "functions.random_uniform({0}, {:shape}, {low|0.0}, {high|1.0}, {:dtype})", .moves = true},
    {.op = "shaped_dropout", .form = "functions.dropout({0}, {1}, {ratio}, {shape})", .moves = true},
    {.op = "split_random_seed", .form = "functions.split_random_seed({0}, {n})", .moves = true},
};

}  // namespace

}  // namespace random_rows

extern const std::span<const TorchRow> torch_random;
const std::span<const TorchRow> torch_random = random_rows::kRows;

}  // namespace pando::emit
