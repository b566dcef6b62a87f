// Schedules by name: those of the rows in schedules/ (schedule_row.h), and synthesised ones (synthesised.h), which a name such as
// "synthesised:4:100:100" describes.
#pragma once

#include "schedule/replay.h"
#include "schedule/schedule_row.h"
#include "schedule/table.h"

#include <string>
#include <string_view>
#include <vector>

namespace pando::schedule {

// Of the rows, by position.
const std::vector<std::string>& names();
// How many stages a rank has in it; 0: any number. Rejects (poplar_error) an unknown name.
std::int32_t stages_per_rank_of(std::string_view name);
// Whether rank r has stages r and 2 p - 1 - r. Otherwise stage s is on rank s mod p.
bool is_in_a_v(std::string_view name);
// Whether I and W may stand apart. Synthesised schedules may split.
bool splits_backward(std::string_view name);

// Rejects (poplar_error) a shape without cells, and one of more cells than a host can have.
void check_shape(const Shape& shape);
// Rejects (poplar_error): an unknown name; a shape that the schedule does not have (the message says which it has).
Table generate(std::string_view name, const Shape& shape);

// What a schedule is made for when no name is given.
struct Problem {
  Shape shape;
  // Rank r has stages r and 2 p - 1 - r (two a rank); otherwise stage s is on rank s mod p.
  bool in_a_v = false;
  // Whether I and W may stand apart.
  bool split_backward = true;
  Costs costs;
  // For each rank (one number: for all), the most activations in microbatches of a whole rank, held from F to W. At least one stage's.
  std::vector<double> memory{1e9};
  // Of an activation: the share that nobody needs behind I. The rest is held to W.
  double released = 0;
};

// A schedule of small span under the limits: the best of list schedules under several orders of preference and of those with names.
// Deterministic; costs count, measured or not. Rejects (poplar_error) limits under which nothing can run.
Table synthesise(const Problem& problem);

}  // namespace pando::schedule
