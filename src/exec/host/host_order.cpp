#include "exec/host/host_order.h"

#include <algorithm>

#include "base/check.h"

namespace pando::exec {

void HostOrder::begin(const std::vector<bool>& participants) {
  const std::lock_guard lock(mutex_);
  participants_ = participants;
  count_ = static_cast<std::size_t>(std::count(participants.begin(), participants.end(), true));
  entries_.assign(participants.size(), {});
  for (std::size_t s = 0; s < participants.size(); ++s) entries_[s].finished = !participants[s];
  inside_.reset();
  waiters_.store(0);
}

std::optional<unsigned> HostOrder::grant() {
  if (inside_) return std::nullopt;
  std::optional<unsigned> first;
  for (unsigned s = 0; s < entries_.size(); ++s)
    if (!entries_[s].finished && (!first || entries_[s].bound < entries_[*first].bound)) first = s;
  if (!first || !entries_[*first].waiting) return std::nullopt;
  entries_[*first].waiting = false;
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  inside_ = first;
  return first;
}

std::optional<unsigned> HostOrder::enter(unsigned slot, const Position& at) {
  const std::lock_guard lock(mutex_);
  if (inside_ == slot) return slot;
  PANDO_CHECK(!entries_[slot].waiting);
  entries_[slot].bound = std::max(entries_[slot].bound, at);
  entries_[slot].waiting = true;
  waiters_.fetch_add(1, std::memory_order_relaxed);
  return grant();
}

std::optional<unsigned> HostOrder::leave(unsigned slot, const Position& next) {
  const std::lock_guard lock(mutex_);
  PANDO_CHECK(inside_ == slot);
  inside_.reset();
  entries_[slot].bound = std::max(entries_[slot].bound, next);
  return grant();
}

std::optional<unsigned> HostOrder::publish(unsigned slot, const Position& bound) {
  const std::lock_guard lock(mutex_);
  entries_[slot].bound = std::max(entries_[slot].bound, bound);
  return grant();
}

std::optional<unsigned> HostOrder::finish(unsigned slot) {
  const std::lock_guard lock(mutex_);
  entries_[slot].finished = true;
  return grant();
}

}  // namespace pando::exec
