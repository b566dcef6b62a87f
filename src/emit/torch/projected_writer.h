// A device of a projected program as Python: its loop over trips, with rings of buffers.
#pragma once

#include "emit/torch/program_text.h"
#include "project/program.h"

namespace pando::emit {

// `samples`: of a step.
ProgramText write_projected(const project::ProjectedProgram& program, std::size_t device, std::int64_t samples, bool canonical);

}  // namespace pando::emit
