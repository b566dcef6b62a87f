#include "base/files/temporary.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "base/error.h"

namespace pando {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "pando-process-";
constexpr std::time_t kLongEnough = 3600;  // a process of another name space, which this one cannot see, has ended its work by then

// Of a name "pando-process-PID-..."; 0: it is none.
pid_t process_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return 0;
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), process);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' && process > 0 ? process : 0;
}

void remove_left_over(const std::string& folder) {
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
    const pid_t process = process_of(at->path().filename().string());
    struct stat about = {};
    if (process == 0 || ::lstat(at->path().c_str(), &about) != 0) continue;
    if (about.st_uid != ::geteuid() || std::time(nullptr) - about.st_mtime < kLongEnough) continue;
    if (::kill(process, 0) == 0 || errno != ESRCH) continue;
    std::error_code busy;
    fs::remove_all(at->path(), busy);
  }
}

}  // namespace

std::string temporary_folder() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
  struct stat about = {};
  if (::stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
    fail(ErrorKind::no_environment, "no-temporary", "the folder for temporary files, TMPDIR, is '{}', which is no folder", folder);
  return folder;
}

std::string temporary_file(const std::string& ending) {
  const std::string folder = temporary_folder();
  static std::once_flag once;
  std::call_once(once, remove_left_over, folder);
  std::string name = fmt::format("{}/{}{}-XXXXXX{}", folder, kPrefix, ::getpid(), ending);
  const int file = ::mkostemps(name.data(), static_cast<int>(ending.size()), O_CLOEXEC);
  if (file < 0) fail(ErrorKind::no_environment, "no-temporary", "cannot create a temporary file in {}: {}", folder, std::strerror(errno));
  ::fchmod(file, 0600);
  ::close(file);
  return name;
}

}  // namespace pando
