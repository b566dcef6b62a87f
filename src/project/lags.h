// When each op of the body runs: in trip t for sample t - lag, before or after the exchange of that trip.
//
// A trip has a first half, an exchange, and a second half. An op's slot is 2 * lag + half; a value that goes to another device goes with
// the next exchange, so that devices compute side by side in a half. Slots are the longest paths of the constraints
//
//     same device      slot(use) >= slot(definition)
//     another device   slot(use) >= 2 * ceil(slot(definition) / 2) + 1
//     state, strict    slot(use) + 2 >= slot(update): the next sample's use comes behind the update
//
// Under `strict`, ops that a cycle through a state joins share one slot: what they send goes at once, within the half.
#pragma once

#include "project/loop.h"

#include <cstdint>
#include <vector>

namespace pando::project {

struct Lags {
  // By op of the module; a transfer's is the exchange's, 2 * lag + 1. -1: not in the body.
  std::vector<std::int32_t> slot;
  // By op: a transfer within a half.
  std::vector<bool> direct;
  // The body's ops, then (of 2BW) the update's, as they stand in a trip: by half, older samples first; in the
  // exchange in the body's order.
  std::vector<ir::OpId> order;
  std::int32_t drain = 0;

  std::int32_t lag(ir::OpId o) const { return slot[o.index()] >> 1; }
};

Lags solve_lags(const LoopProgram& loop);

}  // namespace pando::project
