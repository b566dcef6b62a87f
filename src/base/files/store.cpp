#include "base/files/store.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "base/files/private_files.h"

namespace pando {

namespace fs = std::filesystem;

namespace {

void warn_once(const std::string& what, const std::string& why) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(what).second) std::fprintf(stderr, "pando: %s not kept for later runs: %s\n", what.c_str(), why.c_str());
}

std::string first_line(std::string_view key) { return key.empty() ? std::string() : std::string(key) + '\n'; }

}  // namespace

std::optional<fs::path> Store::folder_of_user() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  if (const fs::path p = variable("POPLAR_EXECUTABLE_CACHE_DIR"); !p.empty()) return p;
  if (const fs::path p = variable("XDG_CACHE_HOME"); !p.empty()) return p / "pando";
  if (const fs::path p = variable("HOME"); !p.empty()) return p / ".cache" / "pando";
  return std::nullopt;
}

Store Store::of_user(const std::string& name, std::string what) {
  const auto folder = folder_of_user();
  return Store(folder ? std::optional(*folder / name) : std::nullopt, std::move(what));
}

std::optional<std::string> Store::find(const std::string& entry, std::string_view key) const {
  if (!folder_) return std::nullopt;
  auto content = read_private_file(*folder_ / entry);
  const std::string line = first_line(key);
  if (!content || !content->starts_with(line)) return std::nullopt;
  content->erase(0, line.size());
  return content;
}

bool Store::put(const std::string& entry, const std::string& content, std::string_view key) const {
  const std::string why =
      folder_ ? write_private_file(*folder_ / entry, first_line(key) + content) : "neither XDG_CACHE_HOME nor HOME is set";
  if (!why.empty()) warn_once(what_, why);
  return why.empty();
}

}  // namespace pando
