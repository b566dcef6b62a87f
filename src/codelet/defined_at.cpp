#include "codelet/defined_at.h"

#include <dlfcn.h>

#include <cstring>

#include "codelet/store/code_lines.h"

namespace pando {

std::optional<DefinedAt> defined_at(const Library& library, CodeletId id) {
  if (id.index() >= library.size()) return std::nullopt;
  const Codelet& codelet = library[id];
  if (!codelet.module.valid()) return std::nullopt;
  void* const handle = library.module(codelet.module).handle;
  const auto* place = handle ? static_cast<const char*>(dlsym(handle, (codelet.entry + kDefinedSuffix).c_str())) : nullptr;
  if (place == nullptr) return std::nullopt;
  DefinedAt out;
  std::memcpy(&out.line, place, sizeof out.line);
  out.file = place + sizeof out.line;
  if (out.file == "<stdin>") out.file = "<codelet text>";
  return out;
}

}  // namespace pando
