// How far the next line of a block is indented.
#pragma once

#include <string>
#include <string_view>

namespace pando::ontile {

inline constexpr std::size_t kIndent = 4;

// The spaces that the line after `line` begins with: as many as that one has, more after a colon, fewer after what ends a block.
std::string next_indent(std::string_view line);

// How many characters Backspace takes before the cursor: a whole step of indentation, or one.
std::size_t backspace(std::string_view before);

}  // namespace pando::ontile
