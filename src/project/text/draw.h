// A projected program in time, as text: a row for each device, a column for each trip, in it what is computed for which sample.
#pragma once

#include "project/program.h"

#include <cstdint>
#include <string>

namespace pando::project {

// Of `samples` samples (of a window, where the policy drains them).
std::string draw(const ProjectedProgram& program, std::int64_t samples);

}  // namespace pando::project
