// A distributed program, run: on IPUs by the clock of the cycle model, or on this host by its own clock.
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
  std::int64_t ipus = 0;
};
// One run of the main graph on IPUs of so many tiles (0: the machine's). Refuses what sessions refuse.
// `profile`: where the report of the run goes, as text.
IpuRun run_on_ipus(ir::Module module, const std::string& machine, std::int64_t tiles_per_ipu, std::string* profile = nullptr);

// The quickest of several runs on the processor, each device a thread: wall-clock seconds of one.
double run_on_host(ir::Module module, double budget);

}  // namespace pando::measure
