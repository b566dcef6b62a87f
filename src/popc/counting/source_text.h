// The texts of the sources that a module with lines was compiled from, kept in the module: reports show them.
#pragma once

#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class DIFile;
}

namespace pando::popc {

// Absolute, without "." and ".."; of standard input "<stdin>".
std::string path_of(const llvm::DIFile& file);
// Part of Pando, of the compiler or of the system: what users do not look at.
bool is_foreign(const std::string& path);

// Keeps the text of each file that functions of the module come from, where `text_of` its path knows it.
void keep_sources(llvm::Module& module, const std::function<std::optional<std::string>(const std::string&)>& text_of);
// By path, in lines.
std::map<std::string, std::vector<std::string>> kept_sources(const llvm::Module& module);

}  // namespace pando::popc
