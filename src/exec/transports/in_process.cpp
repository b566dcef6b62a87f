#include "exec/transports/in_process.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>

namespace pando::exec {

namespace {

// What arrives at one rank. The poster hands it over itself; a packet that is posted meanwhile waits, so that packets come one at a time
// and in order.
class Inbox {
 public:
  void start(Transport::Receiver receiver) {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return !busy_; });
    receiver_ = std::move(receiver);
    hand_over(lock);
  }
  void put(Packet packet) {
    std::unique_lock lock(mutex_);
    packets_.push_back(std::move(packet));
    hand_over(lock);
  }

 private:
  void hand_over(std::unique_lock<std::mutex>& lock) {
    if (!receiver_ || busy_) return;
    busy_ = true;
    while (!packets_.empty()) {
      Packet packet = std::move(packets_.front());
      packets_.pop_front();
      lock.unlock();
      receiver_(std::move(packet));
      lock.lock();
    }
    busy_ = false;
    idle_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<Packet> packets_;
  Transport::Receiver receiver_;
  bool busy_ = false;
};

struct Between {
  explicit Between(unsigned ranks) : inboxes(ranks) {}
  std::vector<Inbox> inboxes;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t finished = 0;
};

class InProcess final : public Transport {
 public:
  InProcess(std::shared_ptr<Between> between, unsigned rank) : between_(std::move(between)), rank_(rank) {}

  unsigned rank() const override { return rank_; }
  unsigned ranks() const override { return static_cast<unsigned>(between_->inboxes.size()); }
  void start(Receiver receiver) override { between_->inboxes[rank_].start(std::move(receiver)); }
  void post(unsigned to, Packet packet) override {
    packet.from = rank_;
    between_->inboxes[to].put(std::move(packet));
  }
  bool finish(double seconds) override {
    std::unique_lock lock(between_->mutex);
    ++between_->finished;
    between_->changed.notify_all();
    return between_->changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return between_->finished >= ranks(); });
  }
  void abort(int status) override { std::_Exit(status); }

 private:
  std::shared_ptr<Between> between_;
  unsigned rank_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> in_process_transports(unsigned ranks) {
  const auto between = std::make_shared<Between>(ranks);
  std::vector<std::unique_ptr<Transport>> all;
  for (unsigned r = 0; r < ranks; ++r) all.push_back(std::make_unique<InProcess>(between, r));
  return all;
}

}  // namespace pando::exec
