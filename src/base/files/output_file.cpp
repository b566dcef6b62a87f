#include "base/files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files/write_all.h"

namespace pando {

namespace fs = std::filesystem;

namespace {

// What open() would give a new file.
mode_t mode_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Another file can take the place of this one, and nobody sees a difference: there is none, or it is an ordinary file of one name.
bool is_replaceable(const fs::path& path, struct stat& about, bool& exists) {
  exists = ::lstat(path.c_str(), &about) == 0;
  if (!exists) return errno == ENOENT;
  return S_ISREG(about.st_mode) && about.st_nlink == 1 && ::access(path.c_str(), W_OK) == 0;
}

// A new file beside `path` with the mode and the owner of what is there; "" if it cannot be made.
fs::path place_beside(const fs::path& path) {
  struct stat about = {};
  bool exists = false;
  if (!is_replaceable(path, about, exists)) return {};
  std::string name = (path.has_parent_path() ? path.parent_path() / ".pando-XXXXXX" : fs::path(".pando-XXXXXX")).string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return {};
  bool alike = !exists || ::fchown(file, about.st_uid, about.st_gid) == 0;
  alike = ::fchmod(file, exists ? about.st_mode & 07777 : mode_of_new_files()) == 0 && alike;
  ::close(file);
  if (alike) return name;
  ::unlink(name.c_str());
  return {};
}

std::string write_to(const fs::path& place, std::string_view content) {
  const int file = ::open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  if (file < 0) return std::strerror(errno);
  int error = write_all(file, content) ? 0 : errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error == 0 ? "" : std::strerror(error);
}

}  // namespace

OutputFile::OutputFile(fs::path path) : path_(std::move(path)), place_(place_beside(path_)) {
  if (place_.empty()) place_ = path_;
}

OutputFile::~OutputFile() {
  if (place_ != path_) ::unlink(place_.c_str());
}

std::string OutputFile::keep() {
  if (place_ == path_) return {};
  if (std::rename(place_.c_str(), path_.c_str()) == 0) {
    place_ = path_;
    return {};
  }
  if (errno != EBUSY) return std::strerror(errno);
  // A container has mounted this one file: its content can change, its name cannot.
  std::error_code error;
  fs::copy_file(place_, path_, fs::copy_options::overwrite_existing, error);
  return error ? error.message() : "";
}

std::string write_output_file(const fs::path& path, std::string_view content) {
  OutputFile file(path);
  const std::string why = write_to(file.place(), content);
  return why.empty() ? file.keep() : why;
}

}  // namespace pando
