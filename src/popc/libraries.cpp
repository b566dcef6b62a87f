#include "popc/libraries.h"

#include <llvm/Object/ELFObjectFile.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "popc/paths.h"

namespace pando::popc {

namespace {

namespace fs = std::filesystem;

std::string path_of(const std::string& file, std::vector<std::string> folders) {
  folders.push_back(library_directory());
  std::string looked;
  for (const std::string& folder : folders) {
    const fs::path candidate = fs::path(folder) / file;
    std::error_code none;
    if (fs::exists(candidate, none)) return candidate.string();
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  throw std::runtime_error("no library '" + file + "' in " + looked);
}

// Read from the file, not by loading it: a library of a sanitizer build cannot be loaded here.
std::set<std::string> exported_symbols(const std::string& path) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) throw std::runtime_error("'" + path + "': " + llvm::toString(file.takeError()));
  const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(file->getBinary());
  if (elf == nullptr) throw std::runtime_error("'" + path + "' is no ELF library");
  std::set<std::string> names;
  for (const llvm::object::ELFSymbolRef symbol : elf->getDynamicSymbolIterators()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (flags && name && (*flags & llvm::object::SymbolRef::SF_Undefined) == 0) names.insert(name->str());
    if (!flags) llvm::consumeError(flags.takeError());
    if (!name) llvm::consumeError(name.takeError());
  }
  return names;
}

}  // namespace

std::vector<CalledLibrary> libraries_of_sysroot(const Options& options) {
  std::vector<CalledLibrary> out;
  if (options.sysroot.empty()) return out;
  const std::vector<std::string> folders = {options.sysroot + "/usr/lib/" + options.triple, options.sysroot + "/lib/" + options.triple,
                                            options.sysroot + "/usr/lib64", options.sysroot + "/usr/lib"};
  for (const char* file : {"libstdc++.so.6", "libm.so.6", "libc.so.6", "libgcc_s.so.1"}) {
    const std::string path = path_of(file, folders);
    out.push_back({file, path, exported_symbols(path)});
  }
  return out;
}

std::string library_file(const std::string& name) { return "lib" + name + ".so"; }

std::vector<CalledLibrary> find_libraries(const Options& options, const std::vector<std::string>& from_inputs) {
  std::vector<std::string> files;
  for (const std::string& name : options.libraries) files.push_back(library_file(name));
  files.insert(files.end(), from_inputs.begin(), from_inputs.end());
  std::vector<CalledLibrary> out;
  for (const std::string& file : files) {
    if (std::any_of(out.begin(), out.end(), [&](const CalledLibrary& known) { return known.file == file; })) continue;
    const std::string path = path_of(file, options.library_folders);
    out.push_back({file, path, exported_symbols(path)});
  }
  return out;
}

}  // namespace pando::popc
