// The state of a channel of one replica: how far its ends are, and who waits. One cursor sends and one receives.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "tile/program.h"

namespace pando::exec {

class ChannelState {
 public:
  enum class End { sends, receives };

  explicit ChannelState(std::uint32_t capacity) : capacity_(capacity) {}

  // With a capacity. May this end move its next block? If not, `slot` waits; `before_waiting` was called then, and nobody may touch the
  // slot's cursor any more.
  template <class BeforeWaiting>
  bool enter(End end, unsigned slot, BeforeWaiting before_waiting) {
    const std::lock_guard lock(mutex_);
    if (end == End::sends ? sent_ - received_ < capacity_ : sent_ > received_) return true;
    before_waiting();
    waiting_[index(end)] = slot;
    return false;
  }
  // The slot of the channel that the next block of this end is in. Only while this end moves a block.
  std::uint64_t block(End end) const { return (end == End::sends ? sent_ : received_) % capacity_; }
  // The block has moved. Returns who waits for that.
  std::optional<unsigned> leave(End end) {
    const std::lock_guard lock(mutex_);
    ++(end == End::sends ? sent_ : received_);
    return take_waiter(other(end));
  }

  // Without a capacity. Who waits at the other end; if nobody does, `slot` waits as above.
  template <class BeforeWaiting>
  std::optional<unsigned> rendezvous(End end, unsigned slot, BeforeWaiting before_waiting) {
    const std::lock_guard lock(mutex_);
    if (const auto partner = take_waiter(other(end))) return partner;
    before_waiting();
    waiting_[index(end)] = slot;
    return std::nullopt;
  }

  // Nobody waits any more; `empties`: nothing is in it, either.
  void begin_run(bool empties) {
    waiting_[0] = waiting_[1] = std::nullopt;
    if (empties) sent_ = received_ = 0;
  }
  std::uint64_t waiting_blocks() const { return sent_ - received_; }

 private:
  static std::size_t index(End end) { return end == End::sends ? 0 : 1; }
  static End other(End end) { return end == End::sends ? End::receives : End::sends; }
  std::optional<unsigned> take_waiter(End end) {
    const std::optional<unsigned> slot = waiting_[index(end)];
    waiting_[index(end)] = std::nullopt;
    return slot;
  }

  const std::uint32_t capacity_;
  std::mutex mutex_;
  std::uint64_t sent_ = 0, received_ = 0;
  std::optional<unsigned> waiting_[2];
};

}  // namespace pando::exec
