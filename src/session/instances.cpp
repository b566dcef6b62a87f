#include "session/instances.h"

#include "base/archive.h"
#include "ir/error.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

namespace pando::session {

using exec::Packet;
using ir::ErrorClass;
using ir::reject;

namespace {

// Lane 0 is for collectives of the host, others are links'.
class Link final : public ReplicaLink {
 public:
  Link(std::shared_ptr<Instances> instances, std::uint32_t number, unsigned replicas)
      : instances_(std::move(instances)), number_(number), count_(replicas / instances_->count()) {}

  unsigned first() const override { return instances_->index() * count_; }
  unsigned count() const override { return count_; }
  void send(unsigned from, unsigned to, std::uint64_t step, const char* block, std::size_t bytes) override {
    std::string message;
    message.reserve(bytes + sizeof step + Packet::kRoom);
    message.append(block, bytes);
    message.append(reinterpret_cast<const char*>(&step), sizeof step);
    instances_->send(to / count_, lane(from, to), std::move(message));
  }
  bool receive(unsigned from, unsigned to, std::uint64_t step, char* block, std::size_t bytes,
               const std::function<bool()>& stopped) override {
    const std::optional<std::string> message =
        instances_->receive(from / count_, lane(from, to), "replicas to meet in the program", stopped);
    if (!message) return false;
    std::uint64_t sent = 0;
    const bool fits = message->size() == bytes + sizeof sent;
    if (fits) std::memcpy(&sent, message->data() + bytes, sizeof sent);
    if (!fits || sent != step)
      reject(ErrorClass::runtime, "instances-differ",
             "replica {} (instance {}) is at another step of the program than replica {} (instance {}): replicas that meet have to go the "
             "same way",
             from, from / count_, to, to / count_);
    std::memcpy(block, message->data(), bytes);
    return true;
  }

 private:
  Instances::Lane lane(unsigned from, unsigned to) const { return {number_, std::uint64_t{from} << 32 | to}; }

  const std::shared_ptr<Instances> instances_;
  const std::uint32_t number_;
  const unsigned count_;
};

}  // namespace

Instances::Instances(std::unique_ptr<exec::Transport> transport, double timeout) : transport_(std::move(transport)), timeout_(timeout) {
  transport_->start([this](Packet p) { take(std::move(p)); });
}

Instances::~Instances() { transport_->start({}); }

std::shared_ptr<ReplicaLink> Instances::link(unsigned replicas) {
  if (replicas % count() != 0)
    reject(ErrorClass::value, "replicas-of-instances", "{} replicas cannot be dealt out evenly to {} instances", replicas, count());
  return std::make_shared<Link>(shared_from_this(), ++links_, replicas);
}

void Instances::take(Packet p) {
  const std::lock_guard lock(mutex_);
  switch (p.kind) {
    case Packet::Kind::data: waiting_[{p.from, Lane{p.channel, p.count}}].push_back(std::move(p.bytes)); break;
    case Packet::Kind::failed: gone_.try_emplace(p.from, fmt::format("instance {} has failed: {}", p.from, p.bytes)); break;
    case Packet::Kind::ended: gone_.try_emplace(p.from, fmt::format("instance {} has come to the end of its program", p.from)); break;
    default: break;
  }
  changed_.notify_all();
}

void Instances::send(unsigned to, Lane lane, std::string bytes) {
  Packet p;
  p.kind = Packet::Kind::data;
  p.channel = lane.number;
  p.count = lane.pair;
  p.bytes = std::move(bytes);
  transport_->post(to, std::move(p));
}

std::optional<std::string> Instances::receive(unsigned from, Lane lane, std::string_view what, const Stopped& stopped) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLook{100};
  const auto begin = Clock::now();
  struct Expecting {
    exec::Transport& transport;
    explicit Expecting(exec::Transport& t) : transport(t) { transport.expect(true); }
    ~Expecting() { transport.expect(false); }
  } const expecting(*transport_);
  std::unique_lock lock(mutex_);
  std::deque<std::string>& mine = waiting_[{from, lane}];
  while (mine.empty()) {
    if (const auto why = gone_.find(from); why != gone_.end())
      reject(ErrorClass::runtime, "instance-gone", "instance {} waits for {}, but {}", index(), what, why->second);
    if (timeout_ > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > timeout_)
      reject(ErrorClass::runtime, "instance-late",
             "instance {} has waited {} s for instance {} ({}): all instances have to make the same calls in the same order", index(),
             timeout_, from, what);
    changed_.wait_for(lock, kLook);
    if (!mine.empty() || !stopped) continue;
    lock.unlock();
    if (stopped()) return std::nullopt;
    lock.lock();
  }
  std::string bytes = std::move(mine.front());
  mine.pop_front();
  return bytes;
}

std::vector<std::string> Instances::all_gather(const std::string& bytes, std::string_view what, const std::vector<unsigned>& given,
                                               const Stopped& stopped) {
  std::vector<unsigned> members = given;
  for (unsigned i = 0; given.empty() && i < count(); ++i) members.push_back(i);
  std::string names;
  for (unsigned m : members) names.append(reinterpret_cast<const char*>(&m), sizeof m);
  const Lane lane{0, checksum(names)};
  for (unsigned m : members) {
    if (m >= count()) reject(ErrorClass::value, "no-instance", "there is no instance {}; there are {}", m, count());
  }
  for (unsigned m : members) {
    if (m != index()) send(m, lane, fmt::format("{}\n", what) + bytes);
  }
  std::vector<std::string> all;
  for (unsigned m : members) {
    if (m == index()) {
      all.push_back(bytes);
      continue;
    }
    std::optional<std::string> message = receive(m, lane, what, stopped);
    if (!message) reject(ErrorClass::runtime, "stopped", "instance {} was stopped while it waited for {}", index(), what);
    const std::size_t line = message->find('\n');
    if (message->compare(0, line, what) != 0)
      reject(ErrorClass::runtime, "instances-differ",
             "instance {} is at '{}' where instance {} is at '{}': all instances have to make the same calls in the same order", m,
             message->substr(0, line), index(), what);
    message->erase(0, line + 1);
    all.push_back(std::move(*message));
  }
  return all;
}

void Instances::tell_others(Packet::Kind kind, const std::string& text) {
  if (std::exchange(said_, true)) return;
  for (unsigned i = 0; i < count(); ++i) {
    if (i == index()) continue;
    Packet p;
    p.kind = kind;
    p.bytes = text;
    transport_->post(i, std::move(p));
  }
}

void Instances::fail(const std::string& why) { tell_others(Packet::Kind::failed, why); }

bool Instances::leave(double seconds) {
  tell_others(Packet::Kind::ended, {});
  return transport_->finish(seconds);
}

}  // namespace pando::session
