// Schedules in which each rank, of one stage, begins with some forward passes and takes input gradients and forward passes in turns from
// then on. Weight gradients wait for what would be idle. Later ranks begin with fewer forward passes: `slope` fewer from one to the next.
#pragma once

#include "schedule/generate.h"

#include <optional>
#include <vector>

namespace pando::schedule {

struct Turns {
  // Forward passes that the last rank begins with, and how many more each rank before it does.
  double last = 1, slope = 1;
  // A gap is filled by a weight gradient if it is at least this share of one.
  double fill = 1;
  // And whatever its length, once a rank has been idle for so long.
  double idle = 0;
  // But the last input gradients, so many of them, wait for no weight gradient: what they are late by, every rank before is.
  std::size_t hurry = 0;
};

// Nothing if the limits of memory do not allow it, or ranks have several stages.
std::optional<Table> in_turns(const Problem& problem, const Turns& turns);
// What is worth a try.
std::vector<Turns> turns_for(const Problem& problem);

}  // namespace pando::schedule
