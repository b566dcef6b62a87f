// Ctrl-C asks for the best so far instead of ending the process; a second one ends it.
#pragma once

#include "base/process/stop.h"

#include <csignal>
#include <memory>

namespace pando::cli {

// 128 and the signal's number, as shells say it.
inline constexpr int kInterrupted = 130;

class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

 private:
  struct sigaction before_{};
  std::unique_ptr<StopScope> scope_;
};

}  // namespace pando::cli
