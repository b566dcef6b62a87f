// Which of the known names a misspelt one may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pando {

// At most three of `names`, nearest first (by edits; then by name); none that would take more than a third of the letters.
std::vector<std::string> similar_names(std::string_view name, const std::vector<std::string>& names);

}  // namespace pando
