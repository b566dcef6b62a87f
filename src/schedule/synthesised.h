// Schedules that are made for costs, as names: what a search chooses can be said in a word, and made again from it.
//
//     synthesised:4                          at most 4 microbatches held on each rank, every pass of every stage costs the same
//     synthesised:4:90-100-100-70:180        stages' forward passes; input gradients; weight gradients (as input gradients, if absent)
//     synthesised:4:90-100-100-70:180:170:25 and 25 for a transfer between ranks
//     synthesised-v:3:100:100:90             the same, where rank r has stages r and 2 p - 1 - r
//     synthesised:4-3-2-1                    a limit for each rank
//
// Costs are whole numbers, one for all stages or one for each; those of passes from 1, of a transfer from 0. A memory of 0 is no limit.
#pragma once

#include "schedule/generate.h"

#include <optional>
#include <string>
#include <string_view>

namespace pando::schedule {

bool is_synthesised(std::string_view name);
// Of the form synthesised-v.
bool is_synthesised_in_a_v(std::string_view name);
// What the name says, for this shape. Rejects (poplar_error) a name that is none of the above, and costs of another number of stages.
Problem problem_of(std::string_view name, const Shape& shape);
// Costs in parts of the largest forward pass, which is 100.
std::string name_of(const Problem& problem);
// The form above without costs.
std::string synthesised_name(bool in_a_v, std::int32_t memory);
// Whether it says what passes cost.
bool has_costs(std::string_view name);

}  // namespace pando::schedule
