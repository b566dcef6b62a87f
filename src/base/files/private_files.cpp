#include "base/files/private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/files/write_all.h"

namespace pando {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

bool is_trusted(const struct stat& about) { return about.st_uid == ::geteuid() || about.st_uid == 0; }

// Can nobody but the user and root put something else into the place of what is in this folder?
bool is_safe(fs::path folder) {
  for (;; folder = folder.parent_path()) {
    struct stat about = {};
    if (::stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || !is_trusted(about)) return false;
    if ((about.st_mode & kOthersWrite) != 0 && (about.st_mode & S_ISVTX) == 0) return false;
    if (folder == folder.parent_path()) return true;
  }
}

// The folder, or the one above it that is there.
fs::path existing(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_parent_path() && folder != folder.parent_path()) folder = folder.parent_path();
  return fs::canonical(folder, error);
}

// Made one by one: create_directories would leave them to the umask.
bool make_folders(const fs::path& folder) {
  if (folder.empty() || ::access(folder.c_str(), F_OK) == 0) return true;
  if (!make_folders(folder.parent_path())) return false;
  return (::mkdir(folder.c_str(), 0700) == 0 && ::chmod(folder.c_str(), 0700) == 0) || errno == EEXIST;
}

}  // namespace

bool is_private_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return false;
  struct stat about = {};
  if (::stat(real.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & kOthersWrite) != 0)
    return false;
  return is_safe(real.parent_path());
}

std::optional<std::string> read_private_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  std::optional<std::string> content;
  struct stat about = {};
  const bool is_mine =
      ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & kOthersWrite) == 0;
  if (is_mine && is_private_folder(path.has_parent_path() ? path.parent_path() : ".")) {
    content.emplace(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t got = 0;
    for (ssize_t n = 1; n > 0 && got < content->size(); got += n > 0 ? static_cast<std::size_t>(n) : 0)
      n = ::read(file, content->data() + got, content->size() - got);
    content->resize(got);
  }
  ::close(file);
  return content;
}

std::string write_private_file(const fs::path& path, const std::string& content) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!is_safe(existing(fs::absolute(folder)))) return folder.string() + " is no folder that this user alone can write to";
  if (!make_folders(folder)) return "cannot make the folder " + folder.string() + ": " + std::strerror(errno);
  if (!is_private_folder(folder)) return folder.string() + " is no folder that this user alone can write to";
  std::string temporary = path.string() + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return "cannot write to " + folder.string() + ": " + std::strerror(errno);
  bool good = ::fchmod(file, 0600) == 0 && write_all(file, content);
  good = ::close(file) == 0 && good && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (good) return {};
  const std::string why = "cannot write " + path.string() + ": " + std::strerror(errno);
  ::unlink(temporary.c_str());
  return why;
}

}  // namespace pando
