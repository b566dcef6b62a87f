// What a machine is, as data. One file per machine in machines/; each number there names its source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace pando {

// A part of every tile's memory. Regions are in address order and do not overlap.
struct MemoryRegion {
  std::string name;
  std::uint64_t begin = 0;  // bytes from the tile's base
  std::uint64_t end = 0;
  bool executable = false;   // code must lie here
  bool interleaved = false;  // fields that ask for interleaved memory must lie here
};

// How IPUs are joined: a ladder whose rungs are cards. Card r holds IPUs 2r and 2r + 1; a rail joins the IPUs of one parity.
//
//        IPU 2 ==across== IPU 3        card 1
//          | up/down        |
//        IPU 0 ==in card== IPU 1       card 0
//
// Traffic between the two IPUs of a card has `in_card` links. Other traffic goes along its rail first and changes rails on the
// last card, where it has `across` links. Numbers count links of one direction.
struct LinkLadder {
  unsigned in_card = 4;
  unsigned across = 2;
  unsigned up = 2;
  unsigned down = 2;
};

struct Machine {
  std::string name;  // "ipu2"
  std::string arch;  // what Target::getTargetArchString says
  std::string doc;
  unsigned ipus = 1;
  unsigned tiles_per_ipu = 0;
  unsigned workers = 6;
  // False for the CPU device: memory has no limit, one tile, and the regions are ignored.
  bool bounded_memory = true;
  std::vector<MemoryRegion> regions;
  std::uint64_t memory_element_bytes = 16384;
  double clock_hz = 0;
  unsigned exchange_bytes_per_cycle = 4;
  unsigned memcpy_bytes_per_cycle = 8;
  unsigned tiles_per_shared_exchange_bus = 2;
  bool exchange_bus_sharing = true;
  unsigned data_path_bits = 64;
  unsigned float_vector_width = 2;
  unsigned half_vector_width = 4;
  unsigned rpt_count_max = 4095;
  unsigned stride_bits = 10;
  unsigned atomic_store_bytes = 4;
  unsigned f16_in_f16_out_conv_units = 16;
  unsigned f16_in_f32_out_conv_units = 16;
  unsigned f32_in_f32_out_conv_units = 8;
  unsigned conv_unit_pipeline_depth = 4;
  unsigned conv_unit_coeff_load_bytes_per_cycle = 16;
  unsigned conv_unit_input_load_elems_f16 = 4;
  unsigned conv_unit_input_load_elems_f32 = 2;
  unsigned sync_cycles_internal = 90;
  unsigned launch_cycles = 81;
  unsigned local_copy_call_cycles = 288;
  // The word after which IPU-Link traffic is modelled: bytes per second of one link, and links by kind (machine.md 5.6).
  double link_bytes_per_second = 0;
  LinkLadder links;
  // The exchange fabric as the landing model sees it: 0 columns means that only the fixed part is known (machine.md 1.3).
  unsigned fabric_columns = 0;
  unsigned fabric_rows = 0;
  unsigned fabric_lanes = 0;
  unsigned exchange_landing_cycles = 53;  // from the sync to the first word on the nearest row
  double sync_seconds_per_hop = 15e-9;    // of a sync between IPUs
  // Host and Streaming Memory, per IPU. UNVALIDATED: no measurement of them is public; 0 means "costs nothing".
  double host_bytes_per_second = 0;
  double host_latency_seconds = 0;
  double streaming_bytes_per_second = 0;
  double streaming_latency_seconds = 0;

  unsigned tiles() const { return ipus * tiles_per_ipu; }
  // What an IPU-Link moves in one direction is already net of protocol: link_bytes_per_second includes the efficiency.
  double peak_flops_f16() const { return peak_flops(f16_in_f16_out_conv_units, conv_unit_input_load_elems_f16); }
  double peak_flops_f32() const { return peak_flops(f32_in_f32_out_conv_units, conv_unit_input_load_elems_f32); }
  double peak_flops(unsigned units, unsigned elems) const { return 2.0 * units * elems * tiles() * clock_hz; }
  std::uint64_t bytes_per_tile() const { return regions.empty() ? 0 : regions.back().end; }
  IpuId ipu_of(TileId t) const { return IpuId(t.value / tiles_per_ipu); }
};

// Null if there is no machine of that name. `find_machine("ipu2")`.
const Machine* find_machine(std::string_view name);
// All machines, sorted by name.
const std::vector<Machine>& all_machines();

}  // namespace pando
