#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"

#include <fmt/format.h>

namespace pando::emit {

using namespace ir;

namespace host_rows {

namespace {

// Ops that name streams, buffers or data of the program are written by graph_writer.cpp.
constexpr TorchRow kRows[] = {
    {.op = "init", .form = "torch.zeros({:shape}, dtype={:dtype}, device=rank.device)", .moves = true},
    {.op = "io_tile_copy", .form = "{0}", .shares = true, .moves = true},
    {.op = "print_tensor",
     .write = [](const Call& c) { return fmt::format("functions.printed({}, {})", c.attribute("title", "\"\""), c.x(0)); },
     .shares = true,
     .moves = true},
};

}  // namespace

}  // namespace host_rows

extern const std::span<const TorchRow> torch_host;
const std::span<const TorchRow> torch_host = host_rows::kRows;

}  // namespace pando::emit
