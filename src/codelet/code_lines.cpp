#include "codelet/code_lines.h"

#include <dlfcn.h>

#include <cstring>

#include "base/error.h"

namespace pando {

std::shared_ptr<const CodeLines> code_lines(const Library& library, CodeletId id) {
  if (id.index() >= library.size()) return nullptr;
  const Codelet& codelet = library[id];
  if (codelet.counting == CountedBy::nothing || !codelet.module.valid()) return nullptr;
  const Module& module = library.module(codelet.module);
  const auto find = [&](const char* suffix) { return module.handle ? dlsym(module.handle, (codelet.entry + suffix).c_str()) : nullptr; };
  const auto* table = static_cast<const char*>(find(kLinesSuffix));
  if (table == nullptr) return nullptr;
  std::uint64_t size = 0;
  std::memcpy(&size, table, sizeof size);
  std::optional<CodeLines> lines = code_lines_of({table + sizeof size, size});
  if (lines) {
    lines->count = reinterpret_cast<KernelCountBlocks>(find(kCountBlocksSuffix));
    lines->counted = reinterpret_cast<KernelCountedBlocks>(find(kCountedBlocksSuffix));
  }
  const bool is_run = codelet.counting == CountedBy::run;
  if (!lines || (is_run ? lines->counted == nullptr : lines->count == nullptr))
    fail(ErrorKind::graph_object_load_error, "gp-lines", "'{}': the lines of vertex '{}' are malformed; compile it again", module.name,
         codelet.name);
  return std::make_shared<const CodeLines>(std::move(*lines));
}

}  // namespace pando
