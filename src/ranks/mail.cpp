#include "ranks/mail.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace pando::ranks {

using exec::Packet;

namespace {
bool is_of_channels(Packet::Kind k) {
  return k == Packet::Kind::data || k == Packet::Kind::credit || k == Packet::Kind::probe || k == Packet::Kind::failed;
}
}  // namespace

Mail::Mail(exec::Transport& transport, double timeout) : transport_(transport), timeout_(timeout) {
  transport_.start([this](Packet p) { take(std::move(p)); });
}

Mail::~Mail() { transport_.start({}); }

void Mail::take(Packet p) {
  std::unique_lock lock(mutex_);
  if (!is_of_channels(p.kind)) {
    waiting_[p.kind].push_back(std::move(p));
    changed_.notify_all();
  } else if (channels_ == nullptr) {
    early_.push_back(std::move(p));
  } else {
    exec::Channels* const channels = channels_;
    ++delivering_;
    lock.unlock();
    channels->deliver(std::move(p));
    lock.lock();
    --delivering_;
    changed_.notify_all();
  }
}

void Mail::set_channels(exec::Channels* channels) {
  std::deque<Packet> early;
  {
    std::unique_lock lock(mutex_);
    channels_ = channels;
    if (channels) early.swap(early_);
    changed_.wait(lock, [&] { return delivering_ == 0; });
  }
  for (Packet& p : early) channels->deliver(std::move(p));
}

void Mail::post(unsigned to, Packet::Kind kind, std::string bytes) {
  Packet p;
  p.kind = kind;
  p.bytes = std::move(bytes);
  transport_.post(to, std::move(p));
}

void Mail::post_all(Packet::Kind kind, const std::string& bytes) {
  for (unsigned r = 0; r < transport_.ranks(); ++r) post(r, kind, bytes);
}

Packet Mail::wait(Packet::Kind kind, std::string_view what, const std::function<bool()>& goes_on) {
  transport_.expect(true);
  std::unique_lock lock(mutex_);
  std::string failure;
  const auto is_over = [&] {
    if (channels_) failure = channels_->failure();
    return !waiting_[kind].empty() || !failure.empty();
  };
  if (timeout_ <= 0) {
    changed_.wait(lock, is_over);
  } else {
    while (!changed_.wait_for(lock, std::chrono::duration<double>(timeout_), is_over)) {
      if (goes_on && goes_on()) continue;
      transport_.expect(false);
      throw TimedOut(fmt::format("rank {} has waited {} s (--timeout) for {}", transport_.rank(), timeout_, what));
    }
  }
  transport_.expect(false);
  if (!failure.empty()) throw exec::RunFailed(failure);
  Packet p = std::move(waiting_[kind].front());
  waiting_[kind].pop_front();
  return p;
}

std::deque<Packet> Mail::take_all(Packet::Kind kind) {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_[kind], {});
}

void Mail::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace pando::ranks
