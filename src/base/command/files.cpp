#include "base/command/files.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <streambuf>
#include <vector>

#include "base/command/standard_output.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/output_file.h"
#include "base/files/write_all.h"

namespace pando {

namespace {

void write_standard_output(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  const int error = errno;
  forget_standard_output();
  if (standard_output_has_no_reader(error)) return;
  fail(ErrorKind::poplar_error, "unwritable-file", "cannot write to standard output: {}", std::strerror(error));
}

// What is written to a file descriptor. After an error nothing more is.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int file) : file_(file), bytes_(1 << 18) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  // 0: all is written.
  int finish() {
    flush();
    return error_;
  }

 private:
  int_type overflow(int_type c) override {
    if (!flush()) return traits_type::eof();
    if (c != traits_type::eof()) {
      *pptr() = static_cast<char>(c);
      pbump(1);
    }
    return 0;
  }
  int sync() override { return flush() ? 0 : -1; }
  bool flush() {
    if (error_ == 0 && !write_all(file_, {pbase(), static_cast<std::size_t>(pptr() - pbase())})) error_ = errno;
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return error_ == 0;
  }

  int file_, error_ = 0;
  std::vector<char> bytes_;
};

int write_parts(int file, const std::function<void(std::ostream&)>& write) {
  DescriptorBuffer buffer(file);
  std::ostream out(&buffer);
  write(out);
  return buffer.finish();
}

}  // namespace

void forget_standard_output() {
  __fpurge(stdout);
  std::clearerr(stdout);
}

void reject_folder(const std::string& path) {
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

void write_file_in_parts(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path == "-") {
    const int flushed = std::fflush(stdout) == 0 ? 0 : errno, error = flushed == 0 ? write_parts(STDOUT_FILENO, write) : flushed;
    if (error == 0 || standard_output_has_no_reader(error)) return;
    fail(ErrorKind::poplar_error, "unwritable-file", "cannot write to standard output: {}", std::strerror(error));
  }
  OutputFile file(path);
  const int descriptor = ::open(file.place().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  int error = descriptor < 0 ? errno : 0;
  if (error == 0) {
    try {
      error = write_parts(descriptor, write);
    } catch (...) {
      ::close(descriptor);
      throw;
    }
    if (::close(descriptor) != 0 && error == 0) error = errno;
  }
  const std::string why = error == 0 ? file.keep() : std::strerror(error);
  if (!why.empty()) fail(ErrorKind::poplar_error, "unwritable-file", "cannot write {}: {}", path, why);
}

}  // namespace pando
