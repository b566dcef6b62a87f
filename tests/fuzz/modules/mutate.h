// Texts of modules, changed: tokens and lines, seldom bytes.
#pragma once

#include "random.h"

#include <string>

namespace pando::fuzz {

// One to four changes.
std::string mutated(const std::string& text, Random& random);
// The same text with result types that follow from the operands': of an op that was changed, or of another one, which takes its results. So
// a change reaches further than the verifier. What does not parse stays.
std::string repaired(const std::string& text);

}  // namespace pando::fuzz
