#include "base/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace pando {

namespace {

class InputFile {
 public:
  InputFile(const std::filesystem::path& path, std::uint64_t most) : most_(most) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // a FIFO without a writer would keep it waiting
    struct stat about = {};
    if (file_ < 0 || ::fstat(file_, &about) != 0) {
      wrong_ = std::strerror(errno);
    } else if (S_ISDIR(about.st_mode)) {
      wrong_ = "it is a folder";
    } else if (S_ISREG(about.st_mode)) {
      size_ = static_cast<std::uint64_t>(about.st_size);
      if (size_ > most_) wrong_ = fmt::format("it has {} bytes; at most {} are read", size_, most_);
    } else if (!is_descriptor(path) || ::fcntl(file_, F_SETFL, 0) != 0) {
      wrong_ = "it is no regular file";
    }
  }
  ~InputFile() {
    if (file_ >= 0) ::close(file_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& wrong() const { return wrong_; }

  std::string read(std::string& content) {
    content.clear();
    content.reserve(size_);
    char piece[1 << 16];
    for (;;) {
      const ssize_t n = ::read(file_, piece, sizeof piece);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return std::strerror(errno);
      if (n == 0) return {};
      content.append(piece, static_cast<std::size_t>(n));
      if (content.size() > most_) return fmt::format("it has more than {} bytes", most_);
    }
  }

 private:
  static bool is_descriptor(const std::filesystem::path& path) {
    const std::string name = path.lexically_normal();
    return name == "/dev/stdin" || name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/");
  }

  const std::uint64_t most_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::string wrong_;
};

}  // namespace

std::string why_unreadable(const std::filesystem::path& path, std::uint64_t most) { return InputFile(path, most).wrong(); }

std::string read_input_file(const std::filesystem::path& path, std::string& content, std::uint64_t most) {
  InputFile file(path, most);
  return file.wrong().empty() ? file.read(content) : file.wrong();
}

}  // namespace pando
