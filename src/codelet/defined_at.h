// Where the classes of codelets are defined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codelet/library.h"

namespace pando {

// A symbol of its module, after that of the codelet's entry: the line (32 bits), and the file as the compiler was given it, with a 0
// behind.
inline constexpr const char* kDefinedSuffix = ".defined";

struct DefinedAt {
  std::string file;  // "<codelet text>": it was compiled from a text
  std::uint32_t line = 0;
};
// Nothing: it is linked into the process, is in assembly, or its module is not loaded.
std::optional<DefinedAt> defined_at(const Library& library, CodeletId codelet);

}  // namespace pando
