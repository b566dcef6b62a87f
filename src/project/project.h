// From one loop program to one program for each device.
#pragma once

#include "project/lags.h"
#include "project/loop.h"
#include "project/program.h"

#include <cstdint>
#include <map>
#include <string>

namespace pando::project {

struct ProjectOptions {
  // Of every stream, but those that are named.
  std::int64_t capacity = 1;
  std::map<std::string, std::int64_t> capacities;
};

// Splits the loop into device programs, skewed by the lags, with rings of as many copies as the lags need. Rejects (value) what the policy
// does not allow: versions older than it says, a window that is too short, capacities of streams that there are not.
ProjectedProgram project(const LoopProgram& loop, const Lags& lags, const ProjectOptions& options = {});
ProjectedProgram project(const LoopProgram& loop, const ProjectOptions& options = {});

}  // namespace pando::project
