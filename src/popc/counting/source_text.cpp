#include "popc/counting/source_text.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include <filesystem>
#include <set>

#include "popc/paths.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr const char* kSources = "pando.sources";

}  // namespace

std::string path_of(const DIFile& file) {
  const std::string name = file.getFilename().str();
  if (name.starts_with("<") || name == "-") return "<stdin>";
  return (std::filesystem::path(file.getDirectory().str()) / name).lexically_normal().string();
}

bool is_foreign(const std::string& path) {
  const std::string own = std::filesystem::path(include_directory()).lexically_normal().string();
  for (const std::string& folder : {own, std::string(PANDO_CLANG_RESOURCE_DIR), std::string("/usr/include"), std::string("/usr/lib")})
    if (path.starts_with(folder + "/")) return true;
  return false;
}

void keep_sources(Module& module, const std::function<std::optional<std::string>(const std::string&)>& text_of) {
  std::set<std::string> known;
  LLVMContext& context = module.getContext();
  for (const Function& f : module) {
    const DISubprogram* const at = f.getSubprogram();
    const std::string path = at && at->getFile() ? path_of(*at->getFile()) : "";
    if (path.empty() || is_foreign(path) || !known.insert(path).second) continue;
    if (const std::optional<std::string> text = text_of(path))
      module.getOrInsertNamedMetadata(kSources)->addOperand(
          MDNode::get(context, {MDString::get(context, path), MDString::get(context, *text)}));
  }
}

std::map<std::string, std::vector<std::string>> kept_sources(const Module& module) {
  std::map<std::string, std::vector<std::string>> out;
  const NamedMDNode* const sources = module.getNamedMetadata(kSources);
  if (!sources) return out;
  for (const MDNode* source : sources->operands()) {
    std::vector<std::string>& lines = out[cast<MDString>(source->getOperand(0))->getString().str()];
    if (!lines.empty()) continue;  // two units of one source
    SmallVector<StringRef, 64> parts;
    cast<MDString>(source->getOperand(1))->getString().split(parts, '\n');
    for (const StringRef part : parts) lines.push_back(part.rtrim('\r').str());
  }
  return out;
}

}  // namespace pando::popc
