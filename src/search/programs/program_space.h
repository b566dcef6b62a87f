// The axes of a program's space.
#pragma once

#include "search/programs/program_search.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pando::search {

// How weights are cut over the tensor axis, as Strategy::cut says it.
using Cuts = std::map<std::string, std::int32_t>;

// What of a program and a machine decides which axes a space has.
struct ProgramFacts {
  // Of every input and stream that counts samples, what all their sizes divide by; 0: none counts.
  std::int64_t samples = 0;
  bool has_sequence = false, has_experts = false, has_backward = false, has_updates = false, has_attention = false;
  // By layer: operations, and seconds at the best efficiency, of its forward ops.
  std::vector<double> layer_operations, layer_seconds;
  // By degree of the tensor axis: all ways to say it of up to ProgramSpace::cuts weights, without those that change nothing.
  std::map<std::int32_t, std::vector<Cuts>> cuts;
  // The devices are on several levels of the network, so it matters how they are numbered.
  bool has_levels = false;
};
// Refuses (poplar_error) more than a hundred thousand ways to cut weights.
ProgramFacts facts_of(const transform::Program& program, const simulate::CostModel& costs, const simulate::Cluster& cluster,
                      const ProgramSpace& space);

// Points with equal degrees, microbatches, schedule, stages, cuts and sequence parallelism; the first of them is the plainest. They differ
// in ZeRO, recomputation, offload and the order of devices.
struct ProgramGroup {
  std::vector<transform::Strategy> points;
  std::int64_t first_index = 0;
  // Of a schedule that is to be made for costs: transfers between ranks are among them. They overlap with passes, and wait for each other,
  // in ways that a schedule's costs do not say: so both are tried.
  bool transfers_cost = false;
  // Of such a schedule, too: a rank may hold more than its name says, as much as makes it need what the fullest rank needs.
  bool levelled = false;
};
std::vector<ProgramGroup> program_groups(const ProgramFacts& facts, const ProgramSpace& space);

}  // namespace pando::search
