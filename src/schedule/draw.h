// Pictures of a schedule in time.
#pragma once

#include "schedule/replay.h"

#include <string>

namespace pando::schedule {

// One line for each rank, a column for each unit of time: digits are microbatches (mod 10), `.` is idle; above each row stands what is done
// (F, I, W, B). `columns_per_unit`: of cost. Rejects (poplar_error) a picture that is wider than kMostColumns.
inline constexpr double kMostColumns = 100'000;
std::string draw_text(const Table& table, const Timing& timing, const Costs& costs, double columns_per_unit = 1);

// The same as SVG: rows are ranks, boxes are cells with their stage and microbatch, colours are F, I, W, B; the makespan and the bubble
// below.
std::string draw_svg(const Table& table, const Timing& timing, const Costs& costs);

}  // namespace pando::schedule
