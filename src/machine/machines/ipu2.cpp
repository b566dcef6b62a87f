#include "machine/machine.h"

// Sources: [tut6] what tutorial 6 of the public Poplar tutorials prints and its CI checks; [brochure] Mk2 product brief;
// [poplibs] public poplibs sources; [poplibs_test] its multi-IPU test model; [ipu-stack] notes of that public project on the
// memory map and the exchange fabric; [D] derived here.
namespace pando {

Machine machine_ipu2() {
  Machine m;
  m.name = "ipu2";
  m.arch = "ipu2";
  m.doc = "Mk2 (GC200): 1472 tiles of 624 KiB";
  m.tiles_per_ipu = 1472;  // [brochure]; [tut6] prints 53807 with it
  m.workers = 6;           // [tut6], [poplibs]
  m.regions = {
      // [ipu-stack] 208 KiB up to 0x80000, the only executable part; 416 KiB interleaved above it: 624 KiB [brochure]
      {"non-interleaved", 0, 208 * 1024, true, false},
      {"interleaved", 208 * 1024, 624 * 1024, false, true},
  };
  m.memory_element_bytes = 16 * 1024;  // [ipu-stack]
  m.clock_hz = 1.330e9;                // [tut6] 6,681,766 cycles are 5,023.9 us
  m.exchange_bytes_per_cycle = 4;      // [tut6]
  m.memcpy_bytes_per_cycle = 8;        // [ipu-stack] local copy rate
  m.tiles_per_shared_exchange_bus = 2; // [ipu-stack] tile pairs
  m.data_path_bits = 64;               // [poplibs]
  m.float_vector_width = 2;            // [poplibs] 64 bits of f32
  m.half_vector_width = 4;             // [poplibs] 64 bits of f16
  m.rpt_count_max = 4095;              // [poplibs]
  m.stride_bits = 10;                  // [poplibs]
  m.atomic_store_bytes = 4;            // [poplibs]
  m.f16_in_f16_out_conv_units = 16;    // [D] 250 TFLOP/s = 2 * 16 units * 4 elements * 1472 tiles * clock
  m.f16_in_f32_out_conv_units = 8;     // [poplibs] its codelets with float partials use 8
  m.f32_in_f32_out_conv_units = 8;     // [D] 62.5 TFLOP/s = 2 * 8 units * 2 elements * 1472 tiles * clock
  m.conv_unit_pipeline_depth = 4;      // [poplibs]
  m.conv_unit_coeff_load_bytes_per_cycle = 16;  // [poplibs] 128-bit loads
  m.sync_cycles_internal = 90;         // [poplibs] CTC loss plan
  m.launch_cycles = 81;                // fitted on two measured additions on Bow (docs/level/profile.md)
  m.local_copy_call_cycles = 288;      // [ipu-stack]
  m.link_bytes_per_second = 128.0 * (1u << 30) / 8 * 0.85;  // [poplibs_test] 128 Gib/s per link at 85 %
  m.links = {4, 2, 2, 2};              // [poplibs_test]
  m.sync_seconds_per_hop = 15e-9;      // [poplibs_test]
  m.fabric_columns = 16;               // [ipu-stack] 16 columns x 23 rows x 4 lanes
  m.fabric_rows = 23;
  m.fabric_lanes = 4;
  m.exchange_landing_cycles = 53;      // [ipu-stack]
  m.host_bytes_per_second = 32e9;      // unvalidated: half of the 64 GB/s quoted for PCIe 4 x16 both ways
  m.host_latency_seconds = 5e-6;       // unvalidated: a guess
  m.streaming_bytes_per_second = 20e9; // unvalidated: quoted for a whole IPU-Machine
  m.streaming_latency_seconds = 5e-6;  // unvalidated: a guess
  return m;
}

}  // namespace pando
