#include "exec/threads/workers.h"

#include <algorithm>
#include <chrono>

#include "base/process/threads.h"
#include "exec/fibers/fiber.h"
#include "exec/runner.h"

namespace pando::exec {

namespace {

// Runs of one program often follow each other at once, and waking a thread that sleeps takes longer than a short one. At first a free
// thread only looks; then it lets others have the processor between looks.
constexpr unsigned kIdleSpins = 3000;
constexpr auto kLingers = std::chrono::microseconds(500);

}  // namespace

std::shared_ptr<Workers> make_workers() { return std::make_shared<Workers>(); }

Workers::~Workers() {
  stopping_.store(true);
  free_.wake_all();
  for (std::thread& t : threads_) t.join();
}

void Workers::open(Run& run, unsigned most, bool linger) {
  if (most == 0) return;
  linger_.store(linger, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  while (threads_.size() < most) threads_.emplace_back(&Workers::work, this);
  run.wanted_ = most;
  ++run.opened_;
  run.taken_.resize(std::max<std::size_t>(run.taken_.size(), most));
  open_.push_back(&run);
  has_room_.store(true, std::memory_order_seq_cst);
}

void Workers::close(Run& run) {
  const std::lock_guard lock(mutex_);
  std::erase(open_, &run);
}

void Workers::wait_until_left(Run& run) {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return run.inside_.empty(); });
}

void Workers::signal(Run& run, int signal) {
  const std::lock_guard lock(mutex_);
  for (const pthread_t t : run.inside_) pthread_kill(t, signal);
}

std::size_t Workers::size() {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

Workers::Place Workers::enter() {
  if (!has_room_.load(std::memory_order_seq_cst)) return {};
  const std::lock_guard lock(mutex_);
  for (Run* const run : open_) {
    if (run->inside_.size() >= run->wanted_) continue;
    const auto free = std::find(run->taken_.begin(), run->taken_.end(), false);
    if (free == run->taken_.end()) continue;
    *free = true;
    run->inside_.push_back(pthread_self());
    return {run, run->opened_, static_cast<unsigned>(free - run->taken_.begin()) + 1};
  }
  has_room_.store(false, std::memory_order_seq_cst);
  return {};
}

void Workers::leave(const Place& place) {
  const std::lock_guard lock(mutex_);
  Run& run = *place.run;
  run.taken_[place.me - 1] = false;
  std::erase_if(run.inside_, [](pthread_t t) { return pthread_equal(t, pthread_self()); });
  if (run.inside_.empty()) left_.notify_all();
  // A worker that could go in again would do so until the run's caller has closed it, and keep it from the mutex.
  if (run.opened_ == place.opened) std::erase(open_, &run);
  if (!open_.empty()) has_room_.store(true, std::memory_order_seq_cst);
}

bool Workers::has_room_soon() const {
  const auto is_called = [&] { return has_room_.load(std::memory_order_acquire) || stopping_.load(); };
  for (unsigned i = 0; i < kIdleSpins; ++i) {
    if (is_called()) return true;
    spin_pause();
  }
  for (const auto end = std::chrono::steady_clock::now() + kLingers; std::chrono::steady_clock::now() < end; std::this_thread::yield())
    if (is_called()) return true;
  return false;
}

void Workers::work() {
  prepare_thread_for_fibers();
  while (!stopping_.load()) {
    if (const Place place = enter(); place.run) {
      place.run->take_part(place.me);
      leave(place);
    } else if (!linger_.load(std::memory_order_relaxed) || !has_room_soon()) {
      free_.sleep([&] { return !stopping_.load() && !has_room_.load(std::memory_order_seq_cst); });
    }
  }
}

}  // namespace pando::exec
