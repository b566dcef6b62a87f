#include "codelet/store/code_lines.h"

#include <algorithm>

#include "base/archive.h"

namespace pando {

template <class A>
void fields(A& a, CodeLine& l) {
  a(l.file, l.line, l.text);
}
template <class A>
void fields(A& a, CodeLines& l) {
  a(l.files, l.lines, l.blocks);
}

std::string bytes_of(const CodeLines& lines) {
  ArchiveWriter writer;
  writer(lines);
  return writer.bytes();
}

std::optional<CodeLines> code_lines_of(std::string_view bytes) {
  CodeLines out;
  ArchiveReader reader(bytes);
  reader(out);
  if (!reader.complete()) return std::nullopt;
  const bool files = std::all_of(out.lines.begin(), out.lines.end(), [&](const CodeLine& l) { return l.file < out.files.size(); });
  const bool lines = std::all_of(out.blocks.begin(), out.blocks.end(), [&](const std::vector<LineSlots>& block) {
    return std::all_of(block.begin(), block.end(), [&](const LineSlots& s) { return s.line < out.lines.size(); });
  });
  if (!files || !lines) return std::nullopt;
  return out;
}

}  // namespace pando
