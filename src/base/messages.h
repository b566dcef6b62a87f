// What the tools say on standard error.
#pragma once

#include <string>
#include <string_view>

namespace pando {

// The text without what a library of JSON says of itself: "[json.exception.parse_error.101] ".
std::string without_library(std::string_view text);
// The text with \xNN in place of each byte that a terminal would obey or that is no UTF-8: a message quotes what is in a file. Line ends
// stay.
std::string printable(std::string_view text);
// A message that may quote; ends the line if it does not.
void complain(std::string_view text);

}  // namespace pando
