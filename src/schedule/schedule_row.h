// One row says all that is true of a schedule with a name: schedules/<file>.cpp holds one (docs/howto/add-a-schedule.md). The build makes a
// manifest of the folder; the command line, searches and transforms ask the row.
#pragma once

#include "schedule/table.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace pando::schedule {

struct Shape {
  std::int32_t ranks = 1, microbatches = 1, stages_per_rank = 1;
};

struct ScheduleRow {
  std::string_view name;
  // The order, in a sentence or two.
  std::string_view doc;
  // Who described it.
  std::string_view source;
  // In lists, and in the order in which searches try schedules.
  std::int32_t position = -1;
  // 0: any number.
  std::int32_t stages_per_rank = 1;
  // Rank r has stages r and 2 p - 1 - r. Otherwise stage s is on rank s mod p.
  bool in_a_v = false;
  // The gradients of inputs and of weights (I and W) stand apart, at least in some cells.
  bool splits_backward = false;
  // Rejects (poplar_error) a shape that the schedule does not have; the number of stages has been checked.
  Table (*make)(const Shape& shape) = nullptr;
};

// Rejects, at compile time, rows that lack a part.
consteval ScheduleRow checked(ScheduleRow row) {
  if (row.name.empty() || row.doc.empty() || row.source.empty()) throw "a schedule needs a name, a doc and a source";
  if (row.position < 0) throw "a schedule needs its position in lists";
  if (row.in_a_v && row.stages_per_rank != 2) throw "a V has two stages a rank";
  if (row.make == nullptr) throw "a schedule needs a function that makes its table";
  return row;
}

// By position.
std::span<const ScheduleRow* const> schedule_table();
// Rejects (poplar_error) an unknown name.
const ScheduleRow& schedule_named(std::string_view name);

// The schedule of least span in which no rank holds more microbatches than the limit (generate.h: synthesise), of unit costs.
Table made_within(const Shape& shape, bool in_a_v, double limit, bool splits_backward);

}  // namespace pando::schedule
