// pando allocate: places buffers that are live for a while into one memory.
#include "allocate/allocate.h"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <memory>

#include "base/check.h"
#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "cli/shared/buffer_table.h"
#include "cli/shared/words.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input;
  std::string output = "-";
  std::uint64_t capacity = 0;
  allocate::AllocationOptions options;
};

const char* name_of(allocate::AllocationStatus status) {
  switch (status) {
    case allocate::AllocationStatus::solved: return "solved";
    case allocate::AllocationStatus::infeasible: return "infeasible";
    case allocate::AllocationStatus::budget_exhausted: return "gave up";
  }
  PANDO_CHECK(!"unknown status");
  __builtin_unreachable();
}

int run(const Arguments& arguments) {
  BufferTable table = parse_buffer_table(read_file(arguments.input), arguments.input);
  const allocate::AllocationProblem problem{table.buffers, arguments.capacity};
  const auto start = std::chrono::steady_clock::now();
  const allocate::AllocationResult result = allocate::allocate(problem, arguments.options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool solved = result.status == allocate::AllocationStatus::solved;
  const std::uint64_t used = solved ? result.high_water : allocate::largest_load(problem);
  fmt::print(stderr, "{}: {}, {} {} of {} bytes, {}, {:.3f} s\n", name_of(result.status), counted(problem.buffers.size(), "buffer"),
             solved ? "highest end" : "most live at once", used, problem.capacity, counted(result.nodes, "node"), seconds);
  if (!solved) return kNo;
  PANDO_CHECK(allocate::check_allocation(problem, result.offsets).empty());
  write_file(arguments.output, with_offsets(table, result.offsets));
  return 0;
}

// A number with a unit as a whole number of bytes; anything else stays as it is.
std::string as_bytes(std::string& text) {
  if (text.find_first_not_of("0123456789") == std::string::npos) return "";
  const double bytes = bytes_of(text);
  if (bytes >= 1 && bytes < 9e15) text = std::to_string(static_cast<std::uint64_t>(bytes));
  return "";
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->options.node_budget = 20'000'000;  // someone waits for this one problem only
  command
      ->add_option("input", arguments->input,
                   "CSV with the columns id,lower,upper,size (live in steps [lower, upper)); may have "
                   "alignment,lowest,highest_end,fixed too")
      ->required();
  command->add_option("--capacity", arguments->capacity, "Bytes of the memory: 638976, 624KiB, 1MiB")
      ->required()
      ->transform(CLI::Validator(as_bytes, "", "bytes"))
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()));
  command->add_option("-o,--output", arguments->output, "CSV to write: the input's columns and `offset`; - is standard output")
      ->capture_default_str();
  command->add_option("--nodes", arguments->options.node_budget, "Search nodes before giving up")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()));
  command->callback([arguments, &invocation] { invocation.status = run(*arguments); });
}

}  // namespace

CommandRow command_allocate() {
  return {
      .name = "allocate",
      .group = CommandGroup::look,
      .summary = "Place buffers with known lifetimes in one memory",
      .describe = describe,
      .examples = {{"pando allocate buffers.csv --capacity 638976", "place them in the memory of one tile"},
                   {"pando allocate buffers.csv --capacity 624KiB --nodes 1000000 -o placed.csv", "give up after a million nodes"}},
      .statuses = {{"0", "placed"},
                   {"1", "not placed: infeasible, or the search gave up"},
                   {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
