// A distributed program, run: on IPUs by the clock of the cycle model, or on this host by its own clock, in one process or as MPI ranks.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <string>

namespace pando::measure {

// Every input of the main graph as a variable; those that were none begin with zeros. Times do not depend on data.
void make_variables(ir::Module& module);

struct IpuRun {
  std::uint64_t cycles = 0;
  double seconds = 0;
};
// One run of the main graph on IPUs of so many tiles (0: the machine's). Rejects what sessions reject.
// `profile`: where the report of the run goes, as text.
IpuRun run_on_ipus(ir::Module module, const std::string& machine, std::int64_t tiles_per_ipu, std::string* profile = nullptr);

// The quickest of several runs on the processor, each device a thread: wall-clock seconds of one.
double run_on_host(ir::Module module, double budget);

// The quickest of so many steps of `pando run`, which stands beside this program, with the devices dealt out to so many ranks: more than
// one are MPI's. Rejects (poplar_error) a run that fails, with what it says.
double run_on_ranks(ir::Module module, std::int32_t ranks, std::int64_t steps);

}  // namespace pando::measure
