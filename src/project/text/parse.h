// Reads what print.h writes.
#pragma once

#include "project/program.h"

#include <string>
#include <string_view>

namespace pando::project {

// Rejects (popart) with "FILE:LINE: what was found, what was expected" and the id of the rule; types that do not follow from operands are
// rejected, too. Whether the program is right is check.h's question.
ProjectedProgram parse(std::string_view text, const std::string& file = "text");

}  // namespace pando::project
