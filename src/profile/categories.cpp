#include "profile/categories.h"

#include <algorithm>
#include <iterator>

namespace pando::profile {

namespace {

constexpr CategoryText kTexts[] = {
    {"variable", "elements of the program's tensors",
     "map large tensors over more tiles, use a smaller type, or let variables live shorter"},
    {"constant", "elements of constant tensors", "share a constant instead of adding it again; broadcast instead of expanding it"},
    {"vertex state", "each vertex's pointers, sizes and state fields", "use fewer, larger vertices; merge compute sets"},
    {"vertex code", "machine code of the codelets that a tile runs",
     "use fewer different codelets on a tile, or load code when it is needed (FunctionBuffer)"},
    {"exchange buffer", "copies of operands that do not lie on the vertex's tile in one piece",
     "map the operand where the vertex is, or keep each vertex's elements contiguous; `buffers` names the cause of each"},
    {"globals", "global variables of codelets", "use vertex state instead of globals"},
    {"stack", "stacks of the worker threads and of the supervisor", "declare the need of each codelet's stack; avoid large local arrays"},
    {"control code", "code that runs the program's steps", "repeat a sequence in a loop instead of unrolling it; use functions"},
    {"exchange code", "code and tables of exchanges", "exchange fewer and larger pieces; reuse functions"},
    {"reserved", "what the machine keeps for itself, and ranges that the program reserved", "reserve less"},
    {"staging", "temporary bytes of copies that overlap themselves and of host transfers",
     "copy between different tensors; transfer in smaller pieces"},
};

}  // namespace

CategoryText category_text(std::string_view name) {
  const auto it = std::find_if(std::begin(kTexts), std::end(kTexts), [&](const CategoryText& t) { return t.name == name; });
  return it == std::end(kTexts) ? CategoryText{name, {}, {}} : *it;
}

}  // namespace pando::profile
