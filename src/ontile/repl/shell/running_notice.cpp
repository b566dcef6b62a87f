#include "ontile/repl/shell/running_notice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace pando::ontile {
namespace {

constexpr int kFirstSecond = 3;

void write_line(const std::string& text) {
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

}  // namespace

RunningNotice::RunningNotice(unsigned tiles) {
  if (isatty(STDERR_FILENO)) thread_ = std::jthread([this, tiles](const std::stop_token& stop) { show(stop, tiles); });
}

void RunningNotice::hide() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  if (is_shown_) write_line("");
}

void RunningNotice::show(const std::stop_token& stop, unsigned tiles) {
  const auto began = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (int second = kFirstSecond;; ++second) {
    stopped_.wait_until(lock, stop, began + std::chrono::seconds(second), [] { return false; });
    if (stop.stop_requested()) return;
    write_line(fmt::format("{} running, {} s (Ctrl-C interrupts)", tiles == 1 ? "1 tile is" : fmt::format("{} tiles are", tiles), second));
    is_shown_ = true;
  }
}

}  // namespace pando::ontile
