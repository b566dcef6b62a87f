#include "popc/paths.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace pando::popc {

namespace fs = std::filesystem;

namespace {

std::string beside_executables(const char* folder) {
  std::error_code none;
  return (fs::read_symlink("/proc/self/exe", none).parent_path().parent_path() / folder).string();
}

}  // namespace

std::string include_directory() { return beside_executables("include"); }
std::string library_directory() { return beside_executables("lib"); }

std::string linker_path() { return PANDO_LLD; }

std::string read_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read '" + name + "'");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace pando::popc
