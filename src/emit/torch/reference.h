// What Pando's interpreter gives for check.py, and how far rounding may take other machines from it.
#pragma once

#include "emit/emit.h"

namespace pando::emit {

// reference.json, reference.bin and check.json; or why there are none.
void add_reference(const ir::Module& module, const Options& options, Emitted& out);
void add_reference(const project::ProjectedProgram& program, const Options& options, Emitted& out);

}  // namespace pando::emit
