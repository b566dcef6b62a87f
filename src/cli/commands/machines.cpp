// pando machines: what can be compiled for, and what programs and transformers are simulated on.
#include "machine/machine.h"

#include <fmt/format.h>

#include <memory>

#include "base/command/files.h"
#include "cli/command_row.h"
#include "cli/machine_checks.h"
#include "simulate/cluster_json.h"
#include "simulate/tables/table_format.h"

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

// Members by what they rest on: "data sheet: half_operations, memory_bytes".
std::string basis_of(const simulate::Cluster& c) {
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const auto& [member, why] : c.provenance) {
    bool found = false;
    for (auto& [reason, members] : by_reason) {
      if (reason == why) members += ", " + member, found = true;
    }
    if (!found) by_reason.emplace_back(why, member);
  }
  std::string text;
  for (const auto& [reason, members] : by_reason) text += fmt::format("      {}: {}\n", reason, members);
  return text;
}

std::string clusters_table() {
  std::string text =
      fmt::format("\nFor simulate, search and memory (pando machines NAME prints one as JSON):\n{:<12} {:>9} {:>9} {:>9}  {}\n", "name",
                  "TFLOP/s", "GB/s", "GB", "what");
  for (const simulate::Cluster& c : simulate::clusters()) {
    text += fmt::format("{:<12} {:>9.4g} {:>9.4g} {:>9.4g}  {}\n", c.name, c.half_operations / 1e12, c.memory_bytes_per_second / 1e9,
                        static_cast<double>(c.memory_bytes) / 1e9, c.doc);
    text += c.provenance.empty() ? fmt::format("      {}\n", c.source) : basis_of(c);
  }
  return text + "ipu2, ipu2:64 and the like are IPUs, with 64 tiles each\n";
}

struct MachinesArguments {
  std::string name, like, device, output = "-";
  std::vector<std::string> files;
};

// A machine as JSON, from others' files. What was read of each file goes to standard error.
std::string read_tables(const MachinesArguments& a) {
  std::vector<simulate::TableFile> files;
  for (const std::string& path : a.files) files.push_back({path, read_file(path), a.device});
  std::vector<std::string> notes;
  const simulate::Cluster machine = simulate::with_tables(simulate::cluster_of(a.like), files, notes);
  for (const std::string& line : notes) fmt::print(stderr, "{}\n", line);
  return simulate::to_json(machine);
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto a = std::make_shared<MachinesArguments>();
  std::string formats;
  for (const simulate::TableFormat& f : simulate::table_formats()) formats += (formats.empty() ? "" : ", ") + f.name;
  CLI::Option* const name = command->add_option("name", a->name,
                                                "A machine for simulate and search: print it as JSON, to start from; or verify: published "
                                                "measurements of IPUs beside the cycle model");
  CLI::Option* const read =
      command->add_option("--read", a->files, fmt::format("Files of measurements ({}): print the machine that they make as JSON", formats));
  CLI::Option* const like = command->add_option("--like", a->like, "With --read: the machine that everything else is taken from");
  command->add_option("--device", a->device, "With --read: which device is meant, where a file has several")->needs(read);
  read->needs(like)->excludes(name);
  like->needs(read);
  command->add_option("-o,--output", a->output, "Where the JSON goes");
  command->callback([a, &invocation] {
    invocation.status = 0;
    if (!a->files.empty()) {
      write_file(a->output, read_tables(*a));
    } else if (a->name == "verify") {
      const MachineChecks checks = check_machines();
      write_file(a->output, checks.text);
      if (!checks.all_met) invocation.status = kNo;
    } else {
      write_file(a->output, a->name.empty() ? table() + clusters_table() : simulate::to_json(simulate::cluster_of(a->name)));
    }
  });
}

}  // namespace

CommandRow command_machines() {
  return {
      .name = "machines",
      .group = CommandGroup::look,
      .summary = "List the machines that can be compiled for, and those that can be simulated",
      .describe = describe,
      .examples = {{"pando machines", "a line for each; of clusters also what is measured and what assumed"},
                   {"pando machines h100", "one as JSON, to start from"},
                   {"pando machines verify", "published measurements of IPUs beside what the cycle model says, fitted ones apart"},
                   {"pando machines --read all_reduce_perf.txt --like h100 -o mine.json", "h100 with what nccl-tests printed"}},
      .statuses = {{"0", "listed"},
                   {"1", "verify: a prediction is farther off than its tolerance"},
                   {"2", "the input or the command line is wrong"}},
      .aliases = {"machine"},
  };
}

}  // namespace pando::cli
