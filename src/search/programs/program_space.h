// The points of a program's space, in groups.
#pragma once

#include "search/programs/program_search.h"

#include <cstdint>
#include <vector>

namespace pando::search {

// Rejects (poplar_error) more than a hundred thousand ways to cut weights.
SpaceFacts facts_of(const transform::Program& program, const simulate::CostModel& costs, const simulate::Cluster& cluster,
                    const Space& space);

// Points that differ in axes inside a group alone (axis.h): ZeRO, recomputation, offload, the order of devices. The
// first of them is the plainest.
struct ProgramGroup {
  std::vector<Strategy> points;
  // Of a schedule that is to be made for costs: transfers between ranks are among them. They overlap with passes, and wait for each other,
  // in ways that a schedule's costs do not say: so both are tried.
  bool transfers_cost = false;
  // Of such a schedule, too: a rank may hold more than its name says, as much as makes it need what the fullest rank needs.
  bool levelled = false;
};
std::vector<ProgramGroup> program_groups(const SpaceFacts& facts);

}  // namespace pando::search
