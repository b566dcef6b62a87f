#include "cli/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/error.h"

namespace pando::cli {

std::string read_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}: it is a folder", path);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}: {}", path, std::strerror(errno));
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}: {}", path, std::strerror(errno));
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) fail(ErrorKind::poplar_error, "unwritable-file", "cannot write to standard output");
    return;
  }
  std::ofstream out(path, std::ios::binary);
  out << text << std::flush;
  if (!out) fail(ErrorKind::poplar_error, "unwritable-file", "cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace pando::cli
