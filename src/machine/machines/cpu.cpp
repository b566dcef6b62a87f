#include "machine/machine.h"

namespace pando {

// The CPU device: one tile, six workers (public library code divides work by getNumWorkerContexts() and its CPU paths expect
// six), memory without limit. Widths and units are ipu2's, so that code which plans with them takes the same paths. It has no
// published timing: cycles on it are a count of work, with a nominal clock of 1 GHz.
Machine machine_cpu() {
  Machine m;
  m.name = "cpu";
  m.arch = "cpu";
  m.doc = "the host as a machine of one tile";
  m.tiles_per_ipu = 1;
  m.workers = 6;
  m.bounded_memory = false;
  m.clock_hz = 1e9;
  m.tiles_per_shared_exchange_bus = 1;
  m.exchange_bus_sharing = false;
  m.sync_cycles_internal = 0;
  m.f16_in_f32_out_conv_units = 8;
  m.launch_cycles = 0;
  m.local_copy_call_cycles = 0;
  m.exchange_landing_cycles = 0;
  m.sync_seconds_per_hop = 0;
  return m;
}

}  // namespace pando
