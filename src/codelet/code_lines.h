// The lines of loaded codelets.
#pragma once

#include <memory>

#include "codelet/library.h"
#include "codelet/store/code_lines.h"

namespace pando {

// Null: its module was compiled without -g, or its cycles are not counted. Throws graph_object_load_error if the module's table is
// malformed.
std::shared_ptr<const CodeLines> code_lines(const Library& library, CodeletId codelet);

}  // namespace pando
