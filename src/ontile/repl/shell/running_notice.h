// A line on the terminal that says how long tiles have been running, from the third second on. It goes before anything else is shown.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace pando::ontile {

class RunningNotice {
 public:
  // Writes nothing if standard error is no terminal.
  explicit RunningNotice(unsigned tiles);
  ~RunningNotice() { hide(); }
  RunningNotice(const RunningNotice&) = delete;
  RunningNotice& operator=(const RunningNotice&) = delete;

  // No more of it from now on.
  void hide();

 private:
  void show(const std::stop_token& stop, unsigned tiles);

  std::mutex mutex_;
  std::condition_variable_any stopped_;
  bool is_shown_ = false;
  std::jthread thread_;
};

}  // namespace pando::ontile
