// A projected program (src/project) as one module for each device: its loop over N samples, with the messages of its streams.
//
// A buffer's copies become values, so that a ring costs what is alive. Trips in which not every action runs (the prologue and the drain)
// are written out; those between are a `repeat` of as many trips as all rings need to come round.
#pragma once

#include "project/program.h"
#include "split/program.h"
#include "split/split.h"

#include <cstdint>
#include <string>

namespace pando::project {

// One run (step) takes `samples` samples. Rejects (value) samples that are no whole number of windows.
split::Program pipeline(const ProjectedProgram& program, std::int64_t samples);

// The same from text. `capacities`: with `replace`, the option's own capacity holds for all streams. Rejects (value) a program that breaks
// a rule of project/checks/check.h, with what `pando pipeline` says of it.
split::Program read_pipeline(const std::string& text, const std::string& file, std::int64_t samples, const split::SplitOptions& capacities,
                             bool replace);

}  // namespace pando::project
