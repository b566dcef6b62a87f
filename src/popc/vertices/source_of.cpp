#include "popc/vertices/source_of.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace pando::popc {

std::string source_of(const std::string& object, std::uint64_t address) {
  using namespace llvm;
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(StringRef(object), "codelets"));
  if (!file) {
    consumeError(file.takeError());
    return "?";
  }
  const auto debug = DWARFContext::create(**file);
  const DILineInfo line =
      debug->getLineInfoForAddress({address, object::SectionedAddress::UndefSection},
                                   {DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, DILineInfoSpecifier::FunctionNameKind::None});
  if (line.FileName == DILineInfo::BadString || line.Line == 0) return "?";
  return line.FileName + ":" + std::to_string(line.Line);
}

}  // namespace pando::popc
