// Executed steps of a report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/rows.h"

namespace pando::profile {

// Terms of the cycle model, kept apart.
struct Cycles {
  std::uint64_t compute = 0, exchange = 0, local_copy = 0, sync = 0, global_exchange = 0, host = 0;
  std::uint64_t wait = 0;  // for the other streams of a sync
  std::uint64_t total() const { return compute + exchange + local_copy + sync + global_exchange + host + wait; }
  friend bool operator==(const Cycles&, const Cycles&) = default;
};
Cycles operator+(const Cycles& a, const Cycles& b);
Cycles operator*(const Cycles& a, std::uint64_t n);
struct StepCycles {  // one static step, summed over its executions
  std::string stream, name, kind;
  std::uint64_t executions = 0;
  Cycles cycles;
  std::uint64_t vertices = 0, unestimated_vertices = 0;
  std::uint64_t exchanged_bytes = 0;
  double tile_balance = 0;  // mean over tiles / slowest tile, 0..1
  std::uint32_t order = 0;  // that of its part of Report::program
  std::uint32_t part = 0;   // of what was read: this part, an index from 1; 0: look for the order and kind
  // Flat: begin, end, cycles of each tile from begin to end ... Only if they were asked for.
  std::vector<std::uint64_t> tile_cycles;
  std::uint64_t flops = 0;
  // Of a compute step: its slowest tile, the slowest vertex on it, and how many workers of the tile have a vertex.
  std::uint32_t slowest_tile = 0;
  std::string slowest_codelet;
  std::uint64_t slowest_cycles = 0;
  std::uint32_t used_workers = 0;
  std::uint32_t profile = 0;  // index in Report::tile_profiles from 1; 0: all tiles of the stream have the cycles of the terms
};

using Steps = Rows<StepCycles>;

}  // namespace pando::profile
