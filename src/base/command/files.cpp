#include "base/command/files.h"

#include <stdio_ext.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/command/standard_output.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/output_file.h"

namespace pando {

namespace {

void write_standard_output(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  const int error = errno;
  forget_standard_output();
  if (standard_output_has_no_reader(error)) return;
  fail(ErrorKind::poplar_error, "unwritable-file", "cannot write to standard output: {}", std::strerror(error));
}

}  // namespace

void forget_standard_output() {
  __fpurge(stdout);
  std::clearerr(stdout);
}

void refuse_folder(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}: it is a folder", path);
}

std::string read_file(const std::string& path) {
  std::string text;
  if (const std::string why = read_input_file(path, text, kMostModelBytes); !why.empty())
    fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}: {}", path, why);
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") return write_standard_output(text);
  if (const std::string why = write_output_file(path, text); !why.empty())
    fail(ErrorKind::poplar_error, "unwritable-file", "cannot write {}: {}", path, why);
}

}  // namespace pando
