#include "popc/paths.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

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

std::string read_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read '" + name + "'");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace pando::popc
