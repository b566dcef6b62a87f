// Reads what ir/text/print.h writes.
#pragma once

#include "ir/module.h"

#include <string>
#include <string_view>

namespace pando::ir {

// Refuses (popart) with "FILE:LINE:COLUMN: what was found, what was expected" and the id of the rule. Types are taken as written; the
// verifier says whether they follow from the operands'.
Module parse(std::string_view text, const std::string& file = "text");

}  // namespace pando::ir
