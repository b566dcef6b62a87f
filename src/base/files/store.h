// What costs time to make and is kept for later runs: compiled codelets, executables. One folder of the user's, with a part for each kind.
// Files are replaced whole or not at all, by several processes at a time if need be, and only what this user alone can have put there is
// believed (base/files/private_files.h). Where nothing can be kept, everything works without.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pando {

class Store {
 public:
  // Of all parts. Nothing if no variable says where.
  static std::optional<std::filesystem::path> folder_of_user();
  // The part `name` of POPLAR_EXECUTABLE_CACHE_DIR, XDG_CACHE_HOME/pando or ~/.cache/pando: the first whose variable is set and not empty.
  // `what` is said if it cannot be kept: "compiled codelets are".
  static Store of_user(const std::string& name, std::string what);
  // Without a folder nothing is kept.
  Store(std::optional<std::filesystem::path> folder, std::string what) : folder_(std::move(folder)), what_(std::move(what)) {}

  // The content of an entry, if it was put there with this key: one line that says what it was made of. Somebody's disk may have changed
  // its end; who cannot notice checks a hash.
  std::optional<std::string> find(const std::string& entry, std::string_view key = {}) const;
  // Replaces the entry. False: it is not kept, and standard error says so, once in a process.
  bool put(const std::string& entry, const std::string& content, std::string_view key = {}) const;

 private:
  std::optional<std::filesystem::path> folder_;
  std::string what_;
};

}  // namespace pando
