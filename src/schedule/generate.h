// Schedules that have names.
//
// | name                  | stages a rank | source                                                                        |
// | --------------------- | ------------- | ----------------------------------------------------------------------------- |
// | GPipe                 | 1             | Huang et al. 2019: all forward, then all backward                              |
// | 1F1B                  | 1             | PipeDream-flush / Megatron: rank r begins with p - r forward passes           |
// | eager-1F1B            | 1             | begins with 2 (p - r) - 1 of them (DistIR's PipeDream scheduler, Alpa)         |
// | Interleaved1F1B       | any           | Narayanan et al. SC'21; stage s on rank s mod p                               |
// | LoopedBFS             | any           | Lamy-Poirier 2022: breadth first over a rank's stages                          |
// | ZB-H1, ZB-H2          | 1             | Qi et al. ICLR'24: I and W apart; H1 holds p microbatches, H2 2 p - 1          |
// | InterleavedZeroBubble | any           | the same rule for interleaved stages                                           |
// | ZBV                   | 2, in a V     | Qi et al. 2024: rank r has stages r and 2 p - 1 - r                            |
// | V-Half, V-Min, V-1F1B | 2, in a V     | the same with half, a third, all of 1F1B's memory (synthesised, see there)      |
// | DualPipeV             | 2, in a V     | DeepSeek 2025: forward and backward of two microbatches side by side           |
// | synthesised:4:100:100 | any           | made for these costs under this limit (synthesised.h)                           |
#pragma once

#include "schedule/replay.h"
#include "schedule/table.h"

#include <string>
#include <string_view>
#include <vector>

namespace pando::schedule {

struct Shape {
  std::int32_t ranks = 1, microbatches = 1, stages_per_rank = 1;
};

// The names above but the last, in that order.
const std::vector<std::string>& names();
// How many stages a rank has in it; 0: any number. Refuses (poplar_error) an unknown name.
std::int32_t stages_per_rank_of(std::string_view name);
// Whether rank r has stages r and 2 p - 1 - r. Otherwise stage s is on rank s mod p.
bool is_in_a_v(std::string_view name);

// Refuses (poplar_error) a shape without cells, and one of more cells than a host can have.
void check_shape(const Shape& shape);
// Refuses (poplar_error): an unknown name; a shape that the schedule does not have (the message says which it has).
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
// Deterministic; costs count, measured or not. Refuses (poplar_error) limits under which nothing can run.
Table synthesise(const Problem& problem);

}  // namespace pando::schedule
