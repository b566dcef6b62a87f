#include "ranks/start/forward_output.h"

#include "base/error.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace pando::ranks {

ForwardOutput::ForwardOutput() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::no_environment, "no-pipe", "cannot make a pipe: {}", std::strerror(errno));
  read_ = ends[0];
  write_ = ends[1];
}

void ForwardOutput::take_over() const { dup2(write_, STDOUT_FILENO); }

void ForwardOutput::begin() {
  close(write_);
  write_ = -1;
  thread_ = std::thread([this] { run(); });
}

void ForwardOutput::end() {
  ended_ = true;
  if (thread_.joinable()) thread_.join();
  for (int* const end : {&read_, &write_}) {
    if (*end >= 0) close(*end);
    *end = -1;
  }
}

void ForwardOutput::run() const {
  std::array<char, 1 << 16> bytes;
  for (;;) {
    pollfd ready{read_, POLLIN, 0};
    const bool last = ended_;  // before it is looked at: what a child has printed is there when it has ended
    if (poll(&ready, 1, last ? 0 : 20) <= 0) {
      if (last) return;
      continue;
    }
    const ssize_t n = read(read_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    // What cannot be written is read all the same, or the child would wait.
    std::fwrite(bytes.data(), 1, static_cast<std::size_t>(n), stdout);
    std::fflush(stdout);
  }
}

}  // namespace pando::ranks
