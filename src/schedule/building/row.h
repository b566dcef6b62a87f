// What schedules are written with.
#pragma once

#include "schedule/table.h"

#include <vector>

namespace pando::schedule {

inline Cell cell(Action action, std::int32_t stage, std::int32_t microbatch) { return {stage, microbatch, action, false}; }

// One rank's row while it is written.
class Row {
 public:
  void add(Action action, std::int32_t stage, std::int32_t microbatch) { cells.push_back(cell(action, stage, microbatch)); }
  std::vector<Cell> cells;
};

}  // namespace pando::schedule
