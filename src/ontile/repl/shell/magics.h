// The host's own commands, as in IPython: lines that begin with %.
#pragma once

#include <string_view>

#include "ontile/repl/shell/shell.h"

namespace pando::ontile {

// Throws poplar_error and its kinds if there is no such command, or it cannot be carried out.
Outcome run_magic(Shell& shell, std::string_view line);
// Sorted, without the %.
std::vector<std::string_view> magic_names();

}  // namespace pando::ontile
