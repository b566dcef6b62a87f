#include "exec/break_at.h"

#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "codelet/store/codelet.h"

namespace pando::exec {

namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  fail(ErrorKind::invalid_option, "option-value",
       "option 'pando.break' has the value '{}': {}; expected one or more of tile=N, vertex=N, step=cN and codelet=NAME, with commas "
       "between",
       text, why);
}

std::uint32_t number_of(const std::string& text, std::string_view word, std::string_view value) {
  const std::string digits(value);
  char* end = nullptr;
  const unsigned long long n = std::strtoull(digits.c_str(), &end, 10);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9' || *end || n > std::numeric_limits<std::uint32_t>::max())
    refuse(text, fmt::format("'{}' is no {}'s number", value, word));
  return static_cast<std::uint32_t>(n);
}

// One word of it; false: it is there already.
bool take(BreakAt& at, const std::string& text, std::string_view name, std::string_view value) {
  const auto set = [&](std::optional<std::uint32_t>& to, std::string_view digits) {
    if (to) return false;
    to = number_of(text, name, digits);
    return true;
  };
  if (name == "tile") return set(at.tile, value);
  if (name == "vertex") return set(at.vertex, value);
  if (name == "step") return set(at.step, value.starts_with("c") ? value.substr(1) : value);
  if (name != "codelet") refuse(text, fmt::format("'{}' is unknown", name));
  if (value.empty()) refuse(text, "the codelet has no name");
  if (!at.codelet.empty()) return false;
  at.codelet = normalised_vertex_name(value);
  return true;
}

}  // namespace

BreakAt parse_break_at(const std::string& text) {
  BreakAt at;
  // Commas within < and > belong to a codelet's name.
  for (std::size_t begin = 0, i = 0, depth = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '<') ++depth;
    if (i < text.size() && text[i] == '>' && depth > 0) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    std::string_view word = std::string_view(text).substr(begin, i - begin);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) refuse(text, fmt::format("'{}' has no '='", word));
    const std::string_view name = word.substr(0, equals);
    if (!take(at, text, name, word.substr(equals + 1))) refuse(text, fmt::format("'{}' is there twice", name));
    begin = i + 1;
  }
  return at;
}

}  // namespace pando::exec

// Not inlined, and not taken for a function without effect.
__attribute__((noinline)) void pando_break(unsigned tile, unsigned vertex, unsigned step, const char* codelet) {
  asm volatile("" : : "r"(tile), "r"(vertex), "r"(step), "r"(codelet) : "memory");
}
