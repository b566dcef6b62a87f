// Key mode: every key goes to the tiles' own prompts.
#pragma once

#include "ontile/repl/shell/interrupts.h"
#include "ontile/repl/shell/shell.h"

namespace pando::ontile {

// Until Ctrl-D or Ctrl-].
void run_keys(Shell& shell, Interrupts& interrupts);

// What a person sees after a key: the tiles' echo if they agree; else their answers, grouped, and one prompt.
std::string render_keys(const std::vector<Group>& groups, const Style& style);

}  // namespace pando::ontile
