#include "ranks/start/leave_nothing.h"

#include "base/error.h"
#include "base/files/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace pando::ranks {

namespace fs = std::filesystem;

namespace {

// What Open MPI keeps in files: of a run, of each rank; and what ranks share in memory, its btl_vader_segment_size and a little.
constexpr std::uint64_t kOfRun = std::uint64_t{4} << 20, kOfRank = std::uint64_t{1} << 19, kShared = (std::uint64_t{4} << 20) + (1 << 16);

std::string new_folder(const std::string& where) {
  std::string name = fmt::format("{}/pando-process-{}-run-XXXXXX", where, getpid());
  return mkdtemp(name.data()) ? name : std::string();
}

// Whether so many bytes can be written there: the room is taken and given back.
void check_room(const std::string& folder, std::uint64_t bytes) {
  const std::string name = folder + "/room";
  const int file = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  const int why = file < 0 ? errno : posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (file >= 0) close(file);
  unlink(name.c_str());
  if (why == 0 || why == EOPNOTSUPP || why == EINVAL) return;
  fail(ErrorKind::file_load_error, "no-room", "cannot write {}, where ranks need {} bytes: {}", folder, bytes, std::strerror(why));
}

// --- the process that cleans up. It was forked from one with threads: nothing here asks for memory of the heap but what std::filesystem
// does when all others are gone.

// Whether the environment with which a process began has this text as one of its entries.
bool has_entry(const char* process, std::string_view entry) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/%s/environ", process);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  static std::array<char, 1 << 20> text;
  std::size_t n = 0;
  for (ssize_t got = 0; n < text.size() && (got = read(file, text.data() + n, text.size() - n)) > 0;) n += static_cast<std::size_t>(got);
  close(file);
  for (std::size_t at = 0; at < n;) {
    const std::size_t length = strnlen(text.data() + at, n - at);
    if (std::string_view(text.data() + at, length) == entry) return true;
    at += length + 1;
  }
  return false;
}

// How many processes of the run there are; each gets the signal, if it is one.
unsigned count_processes(std::string_view entry, int signal) {
  DIR* const all = opendir("/proc");
  if (all == nullptr) return 0;
  unsigned n = 0;
  while (const dirent* one = readdir(all)) {
    const char* name = one->d_name;
    if (name[strspn(name, "0123456789")] != '\0' || std::atoi(name) == getpid() || !has_entry(name, entry)) continue;
    ++n;
    if (signal != 0) kill(std::atoi(name), signal);
  }
  closedir(all);
  return n;
}

// Ranks end by themselves with who started them, and say so; what does not, is ended.
[[noreturn]] void clean_up(int held, const std::string& entry, const std::string& folder, const std::string& memory) {
  setsid();
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  char byte = 0;
  while (read(held, &byte, 1) < 0 && errno == EINTR) continue;
  constexpr int kTenths = 30;
  for (int i = 0; count_processes(entry, i < kTenths ? 0 : SIGKILL) > 0 && i < 2 * kTenths; ++i) poll(nullptr, 0, 100);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!memory.empty()) fs::remove_all(memory, ignored);
  _exit(0);
}

}  // namespace

LeaveNothing::LeaveNothing(unsigned ranks, const std::string& variable) {
  folder_ = new_folder(temporary_folder());
  if (folder_.empty())
    fail(ErrorKind::file_load_error, "no-room", "cannot write a folder into {}: {}", temporary_folder(), std::strerror(errno));
  memory_ = new_folder("/dev/shm");
  mark_ = folder_ + "/board";
  try {
    check_room(folder_, kOfRun + ranks * kOfRank);
    if (!memory_.empty()) check_room(memory_, ranks * kShared);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::no_environment, "no-pipe", "cannot make a pipe: {}", std::strerror(errno));
    held_ = ends[1];
    cleaner_ = fork();
    if (cleaner_ == 0) {
      close(ends[1]);
      // Who waits for the end of this process' output does not wait for the cleaner.
      const int nothing = open("/dev/null", O_RDWR);
      for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
      clean_up(ends[0], variable + "=" + mark_, folder_, memory_);
    }
    close(ends[0]);
    if (cleaner_ < 0) fail(ErrorKind::no_environment, "no-process", "cannot start a process: {}", std::strerror(errno));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    if (!memory_.empty()) fs::remove_all(memory_, ignored);
    if (held_ >= 0) close(held_);
    throw;
  }
}

LeaveNothing::~LeaveNothing() {
  close(held_);
  while (waitpid(cleaner_, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace pando::ranks
