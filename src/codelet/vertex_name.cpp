#include <algorithm>
#include <cctype>

#include "codelet/store/codelet.h"

namespace pando {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The canonical spelling of words that stand side by side: {"long", "unsigned"} is "unsigned long".
std::string joined(std::vector<std::string>& words) {
  const auto count = [&](std::string_view w) { return std::count(words.begin(), words.end(), w); };
  const auto integer = count("unsigned") + count("signed") + count("long") + count("short") + count("int") + count("char");
  std::string out;
  if (integer == 0 || static_cast<std::size_t>(integer) != words.size()) {
    for (const std::string& w : words) {
      if (!out.empty()) out += ' ';
      out += w == "_Float16" ? "half" : w;
    }
    return out;
  }
  if (count("unsigned")) out = "unsigned ";
  if (count("char")) return (count("signed") ? "signed " : out) + "char";
  if (count("short")) return out + "short";
  if (count("long") == 2) return out + "long long";
  if (count("long") == 1) return out + "long";
  return out + "int";
}

}  // namespace

std::string normalised_vertex_name(std::string_view name) {
  std::string out;
  std::vector<std::string> words;
  const auto flush = [&] {
    if (!words.empty()) out += joined(words);
    words.clear();
  };
  for (std::size_t i = 0; i < name.size();) {
    if (std::isspace(static_cast<unsigned char>(name[i]))) {
      ++i;
      continue;
    }
    if (!is_word(name[i])) {
      flush();
      out += name[i++];
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && is_word(name[end])) ++end;
    words.emplace_back(name.substr(i, end - i));
    i = end;
  }
  flush();
  return out;
}

}  // namespace pando
