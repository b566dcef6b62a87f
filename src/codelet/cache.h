// Compiled codelets on disk, found by what they were compiled from. Safe for processes that run at the same time: files are
// written under another name and renamed.
//
//   <dir>/<key>.manifest     for one compiler call: what files it read, with their contents' hashes -> object. Newest first.
//   <dir>/<object>.gp        the result
//
// Only what this user alone can have put there is believed (base/private_files.h).
//
// A look-up starts no process: it reads the manifest, hashes the files that it names, and reads the object.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "codelet/gp_file.h"

namespace pando {

class Cache {
 public:
  // POPLAR_EXECUTABLE_CACHE_DIR, XDG_CACHE_HOME/pando or ~/.cache/pando, then /codelets. Without any of them nothing is kept.
  static Cache of_environment();
  explicit Cache(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  // `call` says all about the compiler call but the contents of files. A damaged entry is as good as none.
  std::optional<std::string> find(const std::string& call) const;
  // Failure to write is not an error: it is said once, and the next run compiles again.
  void store(const std::string& call, const std::vector<Dependency>& dependencies, const std::string& gp) const;

 private:
  std::filesystem::path manifest_of(const std::string& call) const;
  std::optional<std::filesystem::path> folder_;
};

// The whole file, or nothing.
std::optional<std::string> read_file(const std::filesystem::path& path);

}  // namespace pando
