#include "ranks/board.h"

#include "base/error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace pando::ranks {

namespace {
struct Stopping {
  const Board* board = nullptr;
  std::atomic<std::int32_t>* state = nullptr;
  unsigned rank = 0;
  std::int32_t supervisor = 0;
} stopping;
}  // namespace

Board::Board(const std::string& file) {
  int fd = -1;
  if (!file.empty()) {
    fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    // Its bytes are there, not promised: who writes into a map of what a full disk cannot hold dies of it.
    const int why = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(Contents));
    if (why != 0) {
      if (fd >= 0) close(fd);
      fail(ErrorKind::file_load_error, "unreadable-file", "cannot write {}: {}", file, std::strerror(why));
    }
  }
  void* const p = mmap(nullptr, sizeof(Contents), PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
  if (fd >= 0) close(fd);
  if (p == MAP_FAILED) fail(ErrorKind::file_load_error, "unreadable-file", "cannot map {}: {}", file, std::strerror(errno));
  contents_ = static_cast<Contents*>(p);
}

Board::~Board() {
  // A signal may come until the process has ended: what its handler reads stays.
  if (stopping.board != this) munmap(contents_, sizeof(Contents));
}

void Board::set_rank(unsigned rank, std::int32_t process, RankState state) {
  contents_->ranks[rank].process = process;
  set_state(rank, state);
}
void Board::set_state(unsigned rank, RankState state) { contents_->ranks[rank].state = static_cast<std::int32_t>(state); }
RankState Board::state(unsigned rank) const { return static_cast<RankState>(contents_->ranks[rank].state.load()); }
std::int32_t Board::process(unsigned rank) const { return contents_->ranks[rank].process; }
std::optional<unsigned> Board::rank_of_process(std::int32_t process) const {
  for (unsigned r = 0; r < kMostRanks; ++r) {
    if (contents_->ranks[r].process == process) return r;
  }
  return std::nullopt;
}

void Board::set_device(std::size_t place, unsigned rank, std::int32_t device) {
  if (place >= kMostDevices) return;
  Device& d = contents_->devices[place];
  d.rank = static_cast<std::int32_t>(rank);
  d.device = device;
  d.used = 1;
}
void Board::set_step(std::size_t place, std::int64_t step) {
  if (place < kMostDevices) contents_->devices[place].step = step;
}
void Board::set_operation(std::size_t place, std::string_view what) {
  if (place >= kMostDevices) return;
  char* const text = contents_->devices[place].text;
  const std::size_t n = std::min(what.size(), sizeof(Device::text) - 1);
  std::memcpy(text, what.data(), n);
  text[n] = '\0';
}

namespace {

// As much of the text as there is room for.
template <class... Args>
std::size_t put(char* to, std::size_t room, fmt::format_string<Args...> format, Args&&... args) {
  return std::min<std::size_t>(fmt::format_to_n(to, room, format, std::forward<Args>(args)...).size, room);
}

}  // namespace

std::string Board::describe_device(std::size_t place) const {
  if (place >= kMostDevices) return "a device beyond the board";
  const Device& d = contents_->devices[place];
  const std::string_view text(d.text, strnlen(d.text, sizeof d.text));
  return fmt::format("device {} in step {}, last operation: {}", d.device.load(), d.step.load(), text.empty() ? "none yet" : text);
}

std::size_t Board::describe_to(char* to, std::size_t room, unsigned rank) const {
  std::size_t n = 0;
  for (const Device& d : contents_->devices) {
    if (!d.used || d.rank != static_cast<std::int32_t>(rank)) continue;
    const std::string_view text(d.text, strnlen(d.text, sizeof d.text));
    n += put(to + n, room - n, "{}device {} in step {}, last operation: {}", n == 0 ? "" : "; ", d.device.load(), d.step.load(),
             text.empty() ? "none yet" : text);
  }
  return n > 0 ? n : put(to, room, "before its first step");
}

std::string Board::describe(unsigned rank) const {
  std::string text(1 << 16, '\0');
  text.resize(describe_to(text.data(), text.size(), rank));
  return text;
}

void Board::stop_by_signal(int signal) {
  auto running = static_cast<std::int32_t>(RankState::running);  // what failed has said so
  const bool ran = stopping.state && stopping.state->compare_exchange_strong(running, static_cast<std::int32_t>(RankState::stopped));
  if (ran && stopping.supervisor != 0 && getppid() != stopping.supervisor) {
    char text[2048];
    constexpr std::size_t kRoom = sizeof text - 1;
    std::size_t n = put(text, kRoom, "pando run: rank {} died: ", stopping.rank);
    n += stopping.board->describe_to(text + n, kRoom - n, stopping.rank);
    text[n++] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, n);
  }
  _exit(128 + signal);
}

void Board::stop_on_signal(unsigned rank, std::int32_t supervisor) {
  stopping = {this, &contents_->ranks[rank].state, rank, supervisor};
  std::signal(SIGTERM, stop_by_signal);
}

}  // namespace pando::ranks
