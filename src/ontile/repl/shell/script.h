// Running without a prompt: a piece of code, a file, a pipe.
#pragma once

#include <cstdio>

#include "ontile/repl/shell/interrupts.h"
#include "ontile/repl/shell/shell.h"

namespace pando::ontile {

inline constexpr int kInterruptedStatus = 130;

// The status that a script ends with after this: 0 if every tile is done, 1 if one raised or has ended, else the highest status of
// SystemExit.
int status_of(const Outcome& outcome);

// What tiles print goes to `out`, how they fail to `err`, each grouped. Returns the exit status; interrupted: 130.
int run_script(Shell& shell, Interrupts& interrupts, std::string_view source, Session::Input input, std::string_view name, std::FILE* out,
               std::FILE* err);

}  // namespace pando::ontile
