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

Board::Board(const std::string& file) {
  int fd = -1;
  if (!file.empty()) {
    fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(Contents)) != 0) fail(ErrorKind::file_load_error, "unreadable-file", "cannot map {}: {}", file, std::strerror(errno));
  }
  void* const p = mmap(nullptr, sizeof(Contents), PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  if (p == MAP_FAILED) fail(ErrorKind::file_load_error, "unreadable-file", "cannot map {}: {}", file, std::strerror(errno));
  contents_ = static_cast<Contents*>(p);
}

Board::~Board() { munmap(contents_, sizeof(Contents)); }

void Board::set_rank(unsigned rank, std::int32_t process, RankState state) {
  contents_->ranks[rank].process = process;
  set_state(rank, state);
}
void Board::set_state(unsigned rank, RankState state) { contents_->ranks[rank].state = static_cast<std::int32_t>(state); }
RankState Board::state(unsigned rank) const { return static_cast<RankState>(contents_->ranks[rank].state.load()); }
std::int32_t Board::process(unsigned rank) const { return contents_->ranks[rank].process; }

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

std::string Board::describe_device(std::size_t place) const {
  if (place >= kMostDevices) return "a device beyond the board";
  const Device& d = contents_->devices[place];
  const std::string text(d.text, strnlen(d.text, sizeof d.text));
  return fmt::format("device {} in step {}, last operation: {}", d.device.load(), d.step.load(), text.empty() ? "none yet" : text);
}

std::string Board::describe(unsigned rank) const {
  std::string all;
  for (std::size_t i = 0; i < kMostDevices && contents_->devices[i].used; ++i) {
    if (contents_->devices[i].rank == static_cast<std::int32_t>(rank)) all += (all.empty() ? "" : "; ") + describe_device(i);
  }
  return all.empty() ? "before its first step" : all;
}

namespace {
std::atomic<std::int32_t>* stopping_state = nullptr;
void stop_by_signal(int signal) {
  auto running = static_cast<std::int32_t>(RankState::running);  // what failed has said so
  if (std::atomic<std::int32_t>* const state = stopping_state) state->compare_exchange_strong(running, static_cast<std::int32_t>(RankState::stopped));
  _exit(128 + signal);
}
}  // namespace

void Board::stop_on_signal(unsigned rank) {
  stopping_state = &contents_->ranks[rank].state;
  std::signal(SIGTERM, stop_by_signal);
}

}  // namespace pando::ranks
