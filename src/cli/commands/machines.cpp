// pando machines: what can be compiled for.
#include "machine/machine.h"

#include <fmt/format.h>

#include "base/command/files.h"
#include "cli/command_row.h"

namespace pando::cli {
namespace {

std::string memory_of(const Machine& m) { return m.bounded_memory ? fmt::format("{} KiB", m.bytes_per_tile() / 1024) : "unbounded"; }
std::string clock_of(const Machine& m) { return m.clock_hz > 0 ? fmt::format("{:.3g} GHz", m.clock_hz / 1e9) : "-"; }

std::string table() {
  std::string text =
      fmt::format("{:<12} {:>5} {:>10} {:>8} {:>13} {:>10}  {}\n", "name", "IPUs", "tiles/IPU", "workers", "memory/tile", "clock", "what");
  for (const Machine& m : all_machines())
    text += fmt::format("{:<12} {:>5} {:>10} {:>8} {:>13} {:>10}  {}\n", m.name, m.ipus, m.tiles_per_ipu, m.workers, memory_of(m),
                        clock_of(m), m.doc);
  return text;
}

void describe(CLI::App* command, Invocation& invocation) {
  command->callback([&invocation] {
    write_file("-", table());
    invocation.status = 0;
  });
}

}  // namespace

CommandRow command_machines() {
  return {
      .name = "machines",
      .group = CommandGroup::look,
      .summary = "List the machines that can be compiled for",
      .describe = describe,
      .examples = {{"pando machines", "a line for each: IPUs, tiles, memory, clock"}},
      .statuses = {{"0", "listed"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
