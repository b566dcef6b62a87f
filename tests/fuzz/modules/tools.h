// What the tools do with a module's text, as functions: the calls of src/cli, src/ranks/command and popxl.
#pragma once

#include "modules/harness.h"

#include <vector>

namespace pando::fuzz {

std::vector<Tool> tools();

}  // namespace pando::fuzz
