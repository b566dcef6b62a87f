#include "popc/paths.h"

#include <filesystem>

namespace pando::popc {

namespace fs = std::filesystem;

std::string include_directory() {
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none);
  const fs::path installed = self.parent_path().parent_path() / "include";
  if (fs::exists(installed / "poplar" / "Vertex.hpp", none)) return installed.string();
  return PANDO_INCLUDE_DIR;
}

std::string library_directory() {
  std::error_code none;
  return (fs::read_symlink("/proc/self/exe", none).parent_path().parent_path() / "lib").string();
}

std::string linker_path() { return PANDO_LLD; }

}  // namespace pando::popc
