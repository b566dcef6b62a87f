#include "exec/break_at.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <limits>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/text/counted.h"
#include "codelet/store/codelet.h"

namespace pando::exec {

namespace {

[[noreturn]] void reject(const std::string& text, const std::string& why) {
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
    reject(text, fmt::format("'{}' is no {}'s number", value, word));
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
  if (name != "codelet") reject(text, fmt::format("'{}' is unknown", name));
  if (value.empty()) reject(text, "the codelet has no name");
  if (!at.codelet.empty()) return false;
  at.codelet = normalised_vertex_name(value);
  return true;
}

}  // namespace

namespace {

std::string text_of(const BreakAt& at) {
  std::vector<std::string> words;
  if (at.tile) words.push_back(fmt::format("tile={}", *at.tile));
  if (at.vertex) words.push_back(fmt::format("vertex={}", *at.vertex));
  if (at.step) words.push_back(fmt::format("step=c{}", *at.step));
  if (!at.codelet.empty()) words.push_back("codelet=" + at.codelet);
  return fmt::format("{}", fmt::join(words, ","));
}

}  // namespace

std::string check_break_at(const BreakAt& at, const tile::Program& program, const Library& library) {
  if (!at.any()) return {};
  const auto check = [&](const std::optional<std::uint32_t>& n, std::size_t limit, std::string_view what) {
    if (n && *n >= limit)
      fail(ErrorKind::invalid_option, "option-value", "option 'pando.break' has the value '{}': the program has {}", text_of(at),
           counted(limit, what));
  };
  check(at.tile, program.machine.tiles(), "tile");
  check(at.step, program.computes.size(), "compute step");
  std::set<std::string> codelets;
  for (std::size_t step = 0; step < program.computes.size(); ++step)
    for (const tile::VertexGroup& g : program.computes[step].groups) {
      codelets.insert(library[g.codelet].name);
      if (!at.is_step(step)) continue;
      for (std::uint32_t i = 0; i < g.count; ++i) {
        const tile::VertexInstance& v = program.vertices[g.first + i];
        if (at.is_vertex(v.tile.value, v.vertex.value, library[g.codelet].name)) return {};
      }
    }
  return fmt::format("option 'pando.break' has the value '{}': no vertex of the program is one; its codelets are {}", text_of(at),
                     codelets.empty() ? "none" : fmt::format("{}", fmt::join(codelets, ", ")));
}

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
    if (equals == std::string_view::npos) reject(text, fmt::format("'{}' has no '='", word));
    const std::string_view name = word.substr(0, equals);
    if (!take(at, text, name, word.substr(equals + 1))) reject(text, fmt::format("'{}' is there twice", name));
    begin = i + 1;
  }
  return at;
}

}  // namespace pando::exec

// Not inlined, and not taken for a function without effect.
__attribute__((noinline)) void pando_break(unsigned tile, unsigned vertex, unsigned step, const char* codelet) {
  asm volatile("" : : "r"(tile), "r"(vertex), "r"(step), "r"(codelet) : "memory");
}
