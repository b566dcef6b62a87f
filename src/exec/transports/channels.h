// Bounded channels between the devices of a run: each has one sender and one receiver, which may be on different ranks.
//
// Capacity c: the sender is at most c messages ahead of the receiver. 0 is a rendezvous: send returns when the receiver has taken the
// message. Both ends wait on a condition, so a waiting device leaves the core to others.
//
// A deadlock is found, not waited out. A device waits for one thing at a time, which only one other device can bring. Who has waited for a
// while sends a probe to that device's rank; if that device waits, too, the probe goes on from there. Counts of messages go with it, so
// that one that is under way is never taken for one that does not come. When a probe meets a device that it knows and that still waits for
// the same message, or one that has ended, the run fails, and says who waits for what.
#pragma once

#include "exec/transports/buffers.h"
#include "exec/transports/transport.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace pando::exec {

inline constexpr std::int64_t kUnboundedChannel = -1;

struct Channel {
  std::string name;
  // Devices, and the ranks that hold them.
  std::int32_t from = 0, to = 0;
  unsigned from_rank = 0, to_rank = 0;
  std::uint64_t bytes = 0;
  std::int64_t capacity = 1;
};

// Thrown out of waits once the run has failed somewhere. The text is the failure's.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Channels {
 public:
  struct Options {
    // How long a device waits before it asks why.
    std::chrono::milliseconds ask_after{200};
    // The last resort: how long a device waits in all. 0: for ever.
    std::chrono::milliseconds give_up{0};
  };
  // Of one device.
  struct Traffic {
    std::uint64_t sent = 0, received = 0, bytes = 0;
    double waited = 0;  // seconds
  };

  // Keeps references. `failed` is called once, when the run has failed here or elsewhere.
  Channels(std::vector<Channel> channels, Transport& transport, const Options& options,
           std::function<void(const std::string&)> failed = {});

  const std::vector<Channel>& all() const { return channels_; }
  // By the thread of the channel's sender; of its receiver. Channel::bytes bytes.
  void send(std::uint32_t channel, const void* data);
  void receive(std::uint32_t channel, void* data);
  // The device sends and receives no more.
  void ended(std::int32_t device);
  // Ends the run on all ranks. The first text counts.
  void fail(const std::string& why);
  // Packets of kinds data, credit, probe and failed.
  void deliver(Packet packet);
  // After the run: channels of this rank that hold messages which nobody took, by name.
  std::vector<std::string> left_over() const;
  Traffic traffic(std::int32_t device) const;
  // Empty: it has not failed.
  std::string failure() const;

 private:
  struct End {
    std::uint64_t sent = 0, acknowledged = 0;  // at the sender
    std::uint64_t received = 0;                // at the receiver
    std::deque<std::string> queue;
  };
  struct Device {
    std::condition_variable changed;
    bool waits = false, sends = false, ended = false;
    std::uint32_t channel = 0;
    std::uint64_t serial = 0;  // of waits
    Traffic traffic;
  };
  // One device on a probe's way.
  struct Hop {
    std::int32_t device = 0;
    std::uint32_t rank = 0, channel = 0;
    bool sends = false;
    std::uint64_t serial = 0;
    // Messages of the channel that its end knows of: received, or acknowledged.
    std::uint64_t count = 0;
  };
  template <class A>
  friend void fields(A& a, Hop& h) {
    a(h.device, h.rank, h.channel, h.sends, h.serial, h.count);
  }
  using Lock = std::unique_lock<std::mutex>;

  Device& device(std::int32_t d) const { return *devices_.at(d); }
  void wait(Lock& lock, std::int32_t d, bool sends, std::uint32_t channel, const std::function<bool()>& ready);
  bool is_remote(std::uint32_t channel) const { return channels_[channel].from_rank != channels_[channel].to_rank; }
  bool stands_still(std::int32_t d) const;
  Hop hop(std::int32_t d) const;
  void ask(Lock& lock, std::int32_t d);
  void follow(Lock& lock, std::vector<Hop> way);
  std::string describe(const Hop& hop) const;
  void deadlock(Lock& lock, std::vector<Hop> circle, const std::string& end);
  void fail_here(Lock& lock, const std::string& why);

  const std::vector<Channel> channels_;
  Transport& transport_;
  const Options options_;
  std::function<void(const std::string&)> failed_;
  Buffers buffers_;
  mutable std::mutex mutex_;
  std::vector<End> ends_;
  std::map<std::int32_t, std::unique_ptr<Device>> devices_;  // of this rank
  std::string failure_;
};

}  // namespace pando::exec
