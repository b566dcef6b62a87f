// JSON of strangers: parsers nest as deep as the text does.
#pragma once

#include <string_view>

namespace pando {

// Do brackets nest deeper than any JSON of ours? What the parser makes of such a text is freed, copied and printed by recursion.
inline bool json_nests_too_deep(std::string_view text, int most = 200) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace pando
