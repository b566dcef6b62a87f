#include "machine/machine.h"

// Sources: see ipu2.cpp. [citadel] second-hand notes on the Citadel report; [design] an early public poplibs header.
namespace pando {

Machine machine_ipu1() {
  Machine m;
  m.name = "ipu1";
  m.arch = "ipu1";
  m.doc = "Mk1 (GC2): 1216 tiles of 256 KiB";
  m.tiles_per_ipu = 1216;  // [tut6] prints 64373 with it, and with no other number
  m.workers = 6;           // [tut6], [citadel]
  m.regions = {
      // 256 KiB [brochure], half of it interleaved. A published out-of-memory report of the SDK calls the regions full at
      // 122,880 and 131,072 bytes: the SDK keeps 8 KiB of the first one for itself; here nothing is kept.
      {"non-interleaved", 0, 128 * 1024, true, false},
      {"interleaved", 128 * 1024, 256 * 1024, false, true},
  };
  m.memory_element_bytes = 16 * 1024;  // taken over from Mk2: no public source for Mk1
  m.clock_hz = 1.6e9;                  // [citadel], and published Poplar reports
  m.exchange_bytes_per_cycle = 4;      // [tut6], [design]
  m.memcpy_bytes_per_cycle = 8;        // [design] 64-bit data path
  m.tiles_per_shared_exchange_bus = 2; // [poplibs]
  m.data_path_bits = 64;               // [design]
  m.float_vector_width = 2;            // [poplibs]
  m.half_vector_width = 4;             // [poplibs]
  m.rpt_count_max = 4095;              // [poplibs]
  m.stride_bits = 10;                  // [poplibs]
  m.atomic_store_bytes = 4;            // [poplibs]
  m.f16_in_f16_out_conv_units = 8;     // [design]; 124.5 TFLOP/s = 2 * 8 * 4 * 1216 * clock
  m.f16_in_f32_out_conv_units = 8;     // [design]
  m.f32_in_f32_out_conv_units = 4;     // [design]; 31.1 TFLOP/s = 2 * 4 * 2 * 1216 * clock
  m.conv_unit_pipeline_depth = 4;      // [design]
  m.conv_unit_coeff_load_bytes_per_cycle = 16;  // [design]
  m.sync_cycles_internal = 90;         // [poplibs]; measured blur iterations spend 64 to 117 per iteration
  m.launch_cycles = 81;                // fitted on Bow
  m.local_copy_call_cycles = 288;      // [ipu-stack], measured on another generation
  m.link_bytes_per_second = 128.0 * (1u << 30) / 8 * 0.85;  // [poplibs_test]
  m.links = {4, 2, 2, 2};              // [poplibs_test]
  m.sync_seconds_per_hop = 15e-9;      // [poplibs_test] 240 cycles for 16 IPUs
  m.fabric_columns = 16;               // taken over from Mk2, with rows to fit: 16 x 19 x 4 = 1216
  m.fabric_rows = 19;
  m.fabric_lanes = 4;
  m.exchange_landing_cycles = 53;      // taken over from Mk2
  m.host_bytes_per_second = 16e9;      // unvalidated: PCIe 3 x16, one way
  m.host_latency_seconds = 5e-6;       // unvalidated: a guess
  m.streaming_bytes_per_second = 16e9; // unvalidated: Mk1 kept remote buffers in host memory
  m.streaming_latency_seconds = 5e-6;  // unvalidated: a guess
  return m;
}

}  // namespace pando
