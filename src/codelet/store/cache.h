// Compiled codelets in the user's store (base/files/store.h), found by what they were compiled from.
//
//   <key>.manifest     for one compiler call: what files it read, with their contents' hashes -> object. Newest first.
//   <object>.gp        the result
//
// A look-up starts no process: it reads the manifest, hashes the files that it names, and reads the object.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/files/store.h"
#include "codelet/store/gp_file.h"

namespace pando {

class Cache {
 public:
  explicit Cache(Store store = Store::of_user("codelets", "compiled codelets are")) : store_(std::move(store)) {}

  // `call` says all about the compiler call but the contents of files. A damaged entry is as good as none.
  std::optional<std::string> find(const std::string& call) const;
  void store(const std::string& call, const std::vector<Dependency>& dependencies, const std::string& gp) const;

 private:
  Store store_;
};

// The whole file, or nothing.
std::optional<std::string> read_file(const std::filesystem::path& path);

}  // namespace pando
