// Text to statements: comments gone, `;` and newlines separate, braces of bundles apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "popc/assembler/code/code.h"

namespace pando::popc {

struct Statement {
  std::string text;  // trimmed; "{" and "}" are statements of their own
  SourcePlace place;
};

// Follows the line markers that a preprocessor leaves (# 12 "file.S"). Other lines that begin with # are comments.
std::vector<Statement> statements_of(std::string_view text, SourcePlace place);

// Splits at commas outside of quotes and parentheses, and trims.
std::vector<std::string> split_at_commas(std::string_view text);
std::string trimmed(std::string_view text);

}  // namespace pando::popc
