#include "exec/faults/vertex_watch.h"

#include <chrono>

#include <fmt/format.h>

#include "base/messages.h"
#include "base/process/threads.h"
#include "exec/runner.h"

namespace pando::exec {

namespace {

// A number of the calling thread, from 0 on.
unsigned number_of_thread() {
  static std::atomic<unsigned> threads{0};
  static thread_local const unsigned mine = threads.fetch_add(1);
  return mine;
}

}  // namespace

VertexWatch::VertexWatch(unsigned seconds, std::function<void(std::string_view)> tell)
    : seconds_(seconds), tell_(tell ? std::move(tell) : [](std::string_view text) { complain(text); }) {}

VertexWatch::~VertexWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

VertexWatch::Scope::Scope(VertexWatch* watch, const WatchedRange& range) {
  if (!watch || watch->seconds_ == 0) return;
  Slot& slot = watch->slots_[number_of_thread() % kSlots];
  std::uintptr_t free = 0;
  const auto mine = reinterpret_cast<std::uintptr_t>(&range);
  slot.count.fetch_add(1, std::memory_order_relaxed);
  // Of two threads of one slot, or two runs of a thread, one is watched.
  if (!slot.range.compare_exchange_strong(free, mine, std::memory_order_release, std::memory_order_relaxed)) return;
  slot_ = &slot;
  range_ = mine;
}

VertexWatch::Scope::~Scope() {
  if (!slot_) return;
  for (std::uintptr_t mine = range_; !slot_->range.compare_exchange_weak(mine, 0, std::memory_order_acq_rel); mine = range_) spin_pause();
}

void VertexWatch::begin() {
  if (running_.fetch_add(1) > 0 || seconds_ == 0 || !asleep_.load()) return;
  const std::lock_guard lock(mutex_);
  asleep_ = false;
  if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
  changed_.notify_all();
}

// It goes on looking for some seconds after a run: short runs, one after the other, need not wake it.
void VertexWatch::watch() {
  constexpr unsigned kPatience = 5;
  unsigned idle = 0;
  for (std::unique_lock lock(mutex_); !ends_;) {
    if (idle >= kPatience && running_.load() == 0) {
      asleep_ = true;
      if (running_.load() == 0) changed_.wait(lock, [this] { return ends_ || !asleep_; });  // else a run has begun that saw it awake
      asleep_ = false;
      idle = 0;
      continue;
    }
    changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ends_; });
    idle = running_.load() == 0 ? idle + 1 : 0;
    if (!ends_ && idle == 0) look();
  }
}

void VertexWatch::look() {
  for (std::size_t i = 0; i < kSlots; ++i) {
    std::uintptr_t range = slots_[i].range.load(std::memory_order_acquire);
    const bool held = range != 0 && slots_[i].range.compare_exchange_strong(range, range | 1, std::memory_order_acq_rel);
    if (!held) {
      seen_[i] = {};
      continue;
    }
    look_at(*reinterpret_cast<const WatchedRange*>(range), slots_[i].count.load(std::memory_order_relaxed), seen_[i]);
    slots_[i].range.store(range, std::memory_order_release);
  }
}

void VertexWatch::look_at(const WatchedRange& range, std::uint64_t count, Seen& seen) const {
  const std::uint64_t position = range.position();
  if (seen.count != count || seen.position != position) seen = {count, position, 0, seconds_};
  if (++seen.seconds <= seen.next) return;  // it was there for a part of the first second
  tell_(
      fmt::format("pando: {} has not ended for {} s; Engine::stop(), or Ctrl-C in Python, ends the run", range.place(), seen.seconds - 1));
  seen.next = 2 * seen.next;
}

std::shared_ptr<VertexWatch> VertexWatches::of(unsigned seconds) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<VertexWatch>& watch = by_seconds_[seconds];
  if (!watch) watch = std::make_shared<VertexWatch>(seconds);
  return watch;
}

std::shared_ptr<VertexWatches> make_vertex_watches() { return std::make_shared<VertexWatches>(); }

}  // namespace pando::exec
