#include "base/messages.h"

#include <fmt/format.h>

#include <cstdio>

namespace pando {

namespace {

unsigned char byte(std::string_view text, std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0; }

// How many bytes a character of several bytes has that begins here; 0: none does. U+0080 to U+009F are control characters, too.
std::size_t length_of_character(std::string_view text) {
  const unsigned char first = byte(text, 0), second = byte(text, 1);
  const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(text, i) & 0xc0) != 0x80) return 0;
  const bool is_longer_than_need_be = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_none = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  const bool is_control = first == 0xc2 && second < 0xa0;
  return is_longer_than_need_be || is_none || is_control ? 0 : length;
}

}  // namespace

std::string without_library(std::string_view text) {
  constexpr std::string_view kLabel = "[json.exception.";
  std::string shown(text);
  for (std::size_t at = 0; (at = shown.find(kLabel, at)) != std::string::npos;) {
    const std::size_t end = shown.find("] ", at);
    if (end == std::string::npos) break;
    shown.erase(at, end + 2 - at);
  }
  return shown;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const unsigned char first = byte(text, 0);
    const bool is_plain = (first >= 0x20 && first < 0x7f) || first == '\n' || first == '\t';
    const std::size_t length = is_plain ? 1 : length_of_character(text);
    if (length > 0)
      shown += text.substr(0, length);
    else
      shown += fmt::format("\\x{:02x}", first);
    text.remove_prefix(length > 0 ? length : 1);
  }
  return shown;
}

void complain(std::string_view text) { fmt::print(stderr, "{}{}", printable(without_library(text)), text.ends_with('\n') ? "" : "\n"); }

}  // namespace pando
