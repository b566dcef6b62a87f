// Where codelets are defined: their classes, or their labels in assembly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codelet/library.h"

namespace pando {

struct DefinedAt {
  std::string file;  // "<codelet text>": it was compiled from a text
  std::uint32_t line = 0;
};
// What its module says (kDefinedSuffix). Nothing: it is linked into the process, its module is not loaded, or was compiled by an earlier
// version.
std::optional<DefinedAt> defined_at(const Library& library, CodeletId codelet);

}  // namespace pando
