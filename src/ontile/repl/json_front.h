// The same for programs: a request of JSON on each line in, a reply of JSON on each line out. docs/ontile/json.md
#pragma once

#include <cstdio>

#include "ontile/repl/shell/shell.h"

namespace pando::ontile {

// Until the input ends and all of it is answered. Interrupts are carried out as soon as they are read. If nobody reads the replies any
// more, what runs is interrupted.
void run_json(Shell& shell, int in, std::FILE* out);

}  // namespace pando::ontile
