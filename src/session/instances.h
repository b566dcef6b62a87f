// The processes that run one program together, each with some of its replicas: what PopRun calls instances. All make the same calls in the
// same order; what one waits for comes from another one's call of the same name.
//
//     auto instances = std::make_shared<Instances>(exec::open_mpi(600), 600);
//     Session session(builder, {.device = "cpu", .instances = instances});
#pragma once

#include "exec/transports/transport.h"

#include <pando/replicas.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pando::session {

class Instances : public std::enable_shared_from_this<Instances> {
 public:
  using Stopped = std::function<bool()>;

  // `timeout`: how many seconds an instance waits for another one; 0: for ever.
  Instances(std::unique_ptr<exec::Transport> transport, double timeout);
  ~Instances();
  Instances(const Instances&) = delete;
  Instances& operator=(const Instances&) = delete;

  unsigned index() const { return transport_->rank(); }
  unsigned count() const { return transport_->ranks(); }

  // How the replicas of one program meet; they are dealt out evenly, in order. The n-th call on one instance belongs to the n-th on the
  // others. Rejects (value) a number of replicas that the instances do not divide.
  std::shared_ptr<ReplicaLink> link(unsigned replicas);

  // What each of the members gives, in their order; each of them calls it with the same members (ascending; empty: all), and is one of
  // them. `what` is named where others do not come. Rejects (runtime) what says why: an instance that has failed or ended, or does not
  // come in time, `stopped`.
  std::vector<std::string> all_gather(const std::string& bytes, std::string_view what, const std::vector<unsigned>& members = {},
                                      const Stopped& stopped = {});

  // Others that wait for this instance hear that it has failed, and why.
  void fail(const std::string& why);
  // This instance has no more to say. False: the others have not come to their ends within so many seconds; then nothing is left but to
  // end this process.
  bool leave(double seconds);

  // For links. Of a `lane` between two instances, messages come in their order.
  struct Lane {
    std::uint32_t number = 0;
    std::uint64_t pair = 0;
    auto operator<=>(const Lane&) const = default;
  };
  void send(unsigned to, Lane lane, std::string bytes);
  // None: `stopped` says so.
  std::optional<std::string> receive(unsigned from, Lane lane, std::string_view what, const Stopped& stopped);

 private:
  void take(exec::Packet packet);
  void tell_others(exec::Packet::Kind kind, const std::string& text);

  const std::unique_ptr<exec::Transport> transport_;
  const double timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<unsigned, Lane>, std::deque<std::string>> waiting_;
  std::map<unsigned, std::string> gone_;  // why nothing more comes of an instance
  std::uint32_t links_ = 0;
  bool said_ = false;
};

}  // namespace pando::session
