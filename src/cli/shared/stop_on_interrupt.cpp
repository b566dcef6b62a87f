#include "cli/shared/stop_on_interrupt.h"

#include <atomic>

namespace pando::cli {
namespace {

// A handler has nothing else to write to.
std::atomic<bool> interrupted = false;

}  // namespace

StopOnInterrupt::StopOnInterrupt() : scope_(std::make_unique<StopScope>(&interrupted)) {
  interrupted = false;
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = true; };
  // The next one does what it always did.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &before_);
}

StopOnInterrupt::~StopOnInterrupt() { sigaction(SIGINT, &before_, nullptr); }

}  // namespace pando::cli
