// The order of host callbacks across streams (contract 4): one at a time, by position in the program.
//
// A position is where a stream is: for every enclosing loop or call its order and round, then the instruction's order, compared
// lexicographically; ties go to the smaller slot (replica, then stream). Every stream that has host steps publishes a lower
// bound of its position. A callback may run when no other stream can still come to a smaller one. Streams without host steps do
// not take part, so they never delay others; nor does one inside a loop that has none (its bound is what comes after the loop).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace pando::exec {

using Position = std::vector<std::uint64_t>;

class HostOrder {
 public:
  // Begins a run: `participants[slot]` says who has host steps.
  void begin(const std::vector<bool>& participants);

  // Does the order concern this slot? With one participant everything is in order already.
  bool concerns(unsigned slot) const { return count_ > 1 && participants_[slot]; }
  bool has_waiters() const { return waiters_.load(std::memory_order_relaxed) > 0; }

  // All of these return a slot that may do its host step now, if any: whoever called goes on with it.
  // The slot comes to its host step at `at`. If it is returned, it does it now, and calls `leave` afterwards. Else it waits;
  // a later call of one of these functions returns it, and `enter` does so then. That its position is known now may be what
  // another slot waited for.
  std::optional<unsigned> enter(unsigned slot, const Position& at);
  // `next`: a lower bound of the slot's next position.
  std::optional<unsigned> leave(unsigned slot, const Position& next);
  std::optional<unsigned> publish(unsigned slot, const Position& bound);
  std::optional<unsigned> finish(unsigned slot);

 private:
  struct Entry {
    Position bound;
    bool waiting = false;
    bool finished = false;
  };
  // The waiter that is smallest of all, if nobody is inside.
  std::optional<unsigned> grant();

  std::mutex mutex_;
  std::vector<bool> participants_;
  std::size_t count_ = 0;
  std::vector<Entry> entries_;
  std::optional<unsigned> inside_;
  std::atomic<unsigned> waiters_{0};
};

}  // namespace pando::exec
