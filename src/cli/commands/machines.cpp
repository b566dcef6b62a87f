// pando machines: what can be compiled for.
#include "machine/machine.h"

#include <fmt/format.h>

#include "base/command/files.h"
#include "cli/commands.h"

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

}  // namespace

void add_machines(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand("machines", "List the machines that can be compiled for");
  command->callback([&status] {
    write_file("-", table());
    status = 0;
  });
}

}  // namespace pando::cli
