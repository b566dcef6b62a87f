// The door for modules that come as text: whoever reads one from a file or a user reads it here.
#pragma once

#include "ir/module.h"

#include <string>
#include <string_view>

namespace pando::ir {

// Which rules a module has to obey: those of ir/checks/verify.h, or also those of ir/checks/verify_distribution.h.
enum class ModuleRules { of_modules, of_devices };

// Parses and verifies. Rejects (popart) what the text rejects, and a module that is not valid: each broken rule with the line and column at
// which its op, graph or variable is written, and what it is. The error has the first rule's id.
Module read_module(std::string_view text, const std::string& file = "text", ModuleRules rules = ModuleRules::of_modules);

}  // namespace pando::ir
