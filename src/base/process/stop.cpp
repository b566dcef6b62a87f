#include "base/process/stop.h"

#include <utility>

namespace pando {

namespace {
thread_local const std::atomic<bool>* flag_of_thread = nullptr;
}  // namespace

StopScope::StopScope(const std::atomic<bool>* flag) : outer_(std::exchange(flag_of_thread, flag)) {}
StopScope::~StopScope() { flag_of_thread = outer_; }

const std::atomic<bool>* stop_flag() { return flag_of_thread; }
void set_stop_flag(const std::atomic<bool>* flag) { flag_of_thread = flag; }

void check_stop() {
  if (flag_of_thread && flag_of_thread->load(std::memory_order_relaxed)) throw Stopped();
}

}  // namespace pando
