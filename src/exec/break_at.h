// Where a debugger stops: before vertices that a user names (engine option pando.break). A function is called there, on which it has a
// breakpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codelet/library.h"
#include "tile/program.h"

namespace pando::exec {

struct BreakAt {
  std::optional<std::uint32_t> tile, vertex, step;  // as messages name them; what is not there is any
  std::string codelet;                              // empty: any

  bool any() const { return tile || vertex || step || !codelet.empty(); }
  bool is_step(std::size_t s) const { return any() && (!step || *step == s); }
  bool is_vertex(std::uint32_t on_tile, std::uint32_t number, std::string_view of) const {
    return (!tile || *tile == on_tile) && (!vertex || *vertex == number) && (codelet.empty() || codelet == of);
  }
};

// "tile=3,vertex=17,step=c2,codelet=Sum", in any order, each once at most. Throws invalid_option.
BreakAt parse_break_at(const std::string& text);

// Throws invalid_option for a tile or a step that the program does not have. Where no vertex of the program is one of these, what to say
// about it: another program of the process may have them. Else "".
std::string check_break_at(const BreakAt& at, const tile::Program& program, const Library& library);

}  // namespace pando::exec

// Does nothing: for breakpoints. What runs next is compute() of that vertex.
extern "C" __attribute__((visibility("default"))) void pando_break(unsigned tile, unsigned vertex, unsigned step, const char* codelet);
