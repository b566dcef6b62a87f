// The session at a terminal.
#pragma once

#include <string>
#include <string_view>

#include "ontile/repl/shell/interrupts.h"
#include "ontile/repl/shell/shell.h"

namespace pando::ontile {

// Lines are read until they are whole, and executed, until somebody leaves. Returns the exit status: 0, or that of SystemExit on every
// tile.
int run_prompt(Shell& shell, Interrupts& interrupts);

// Where a history is kept: a file of this user; its folder is made. Empty if there is no place for it.
std::string history_file(std::string_view name = "repl_history");

}  // namespace pando::ontile
