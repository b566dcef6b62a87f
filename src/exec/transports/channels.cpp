#include "exec/transports/channels.h"

#include "base/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pando::exec {

namespace {

using Clock = std::chrono::steady_clock;

Packet packet(Packet::Kind kind, std::uint32_t channel, std::uint64_t count, std::string bytes = {}) {
  Packet p;
  p.kind = kind;
  p.channel = channel;
  p.count = count;
  p.bytes = std::move(bytes);
  return p;
}

}  // namespace

Channels::Channels(std::vector<Channel> channels, Transport& transport, const Options& options,
                   std::function<void(const std::string&)> failed)
    : channels_(std::move(channels)), transport_(transport), options_(options), failed_(std::move(failed)), ends_(channels_.size()) {
  for (const Channel& c : channels_) {
    if (c.from_rank == transport_.rank()) devices_.try_emplace(c.from, std::make_unique<Device>());
    if (c.to_rank == transport_.rank()) devices_.try_emplace(c.to, std::make_unique<Device>());
  }
}

void Channels::send(std::uint32_t channel, const void* data) {
  const Channel& c = channels_[channel];
  End& end = ends_[channel];
  std::string message = buffers_.take(c.bytes);
  std::memcpy(message.data(), data, c.bytes);
  Lock lock(mutex_);
  if (c.capacity > 0) {
    wait(lock, c.from, true, channel, [&] { return end.sent - end.acknowledged < static_cast<std::uint64_t>(c.capacity); });
  } else if (!failure_.empty()) {
    throw RunFailed(failure_);
  }
  Device& sender = device(c.from);
  ++end.sent;
  ++sender.traffic.sent;
  sender.traffic.bytes += c.bytes;
  if (is_remote(channel)) {
    const std::uint64_t number = end.sent;
    lock.unlock();
    transport_.post(c.to_rank, packet(Packet::Kind::data, channel, number, std::move(message)));
    lock.lock();
  } else {
    end.queue.push_back(std::move(message));
    device(c.to).changed.notify_one();
  }
  if (c.capacity == 0) wait(lock, c.from, true, channel, [&] { return end.acknowledged == end.sent; });
}

void Channels::receive(std::uint32_t channel, void* data) {
  const Channel& c = channels_[channel];
  End& end = ends_[channel];
  Lock lock(mutex_);
  wait(lock, c.to, false, channel, [&] { return !end.queue.empty(); });
  std::string message = std::move(end.queue.front());
  end.queue.pop_front();
  const std::uint64_t received = ++end.received;
  ++device(c.to).traffic.received;
  if (!is_remote(channel)) {
    end.acknowledged = received;
    device(c.from).changed.notify_one();
  }
  lock.unlock();
  if (is_remote(channel) && c.capacity >= 0) transport_.post(c.from_rank, packet(Packet::Kind::credit, channel, received));
  std::memcpy(data, message.data(), message.size());
  buffers_.give(std::move(message));
}

void Channels::wait(Lock& lock, std::int32_t d, bool sends, std::uint32_t channel, const std::function<bool()>& ready) {
  if (!failure_.empty()) throw RunFailed(failure_);
  if (ready()) return;
  Device& me = device(d);
  const auto begin = Clock::now();
  me.waits = true;
  me.sends = sends;
  me.channel = channel;
  ++me.serial;
  const bool remote = is_remote(channel);
  if (remote) transport_.expect(true);
  auto ask_at = begin + options_.ask_after;
  while (!ready() && failure_.empty()) {
    if (me.changed.wait_until(lock, ask_at) == std::cv_status::no_timeout || ready() || !failure_.empty()) continue;
    if (options_.give_up.count() > 0 && Clock::now() - begin > options_.give_up) {
      fail_here(lock, fmt::format("no progress for {:.0f} s: {} [timeout]", std::chrono::duration<double>(options_.give_up).count(),
                                  describe(hop(d))));
      break;
    }
    ask(lock, d);
    ask_at = Clock::now() + options_.ask_after;
  }
  me.waits = false;
  if (remote) transport_.expect(false);
  me.traffic.waited += std::chrono::duration<double>(Clock::now() - begin).count();
  if (!failure_.empty()) throw RunFailed(failure_);
}

void Channels::ended(std::int32_t d) {
  const std::lock_guard lock(mutex_);
  if (const auto it = devices_.find(d); it != devices_.end()) it->second->ended = true;
}

// --- deadlocks ---------------------------------------------------------------------------------------------------------------------------

// A device whose message or slot has come, but which has not been scheduled since, waits for nobody.
bool Channels::stands_still(std::int32_t d) const {
  const Device& me = device(d);
  if (!me.waits) return false;
  const Channel& c = channels_[me.channel];
  const End& end = ends_[me.channel];
  if (!me.sends) return end.queue.empty();
  return c.capacity == 0 ? end.acknowledged != end.sent : end.sent - end.acknowledged >= static_cast<std::uint64_t>(c.capacity);
}

Channels::Hop Channels::hop(std::int32_t d) const {
  const Device& me = device(d);
  const End& end = ends_[me.channel];
  return {d, transport_.rank(), me.channel, me.sends, me.serial, me.sends ? end.acknowledged : end.received};
}

void Channels::ask(Lock& lock, std::int32_t d) { follow(lock, {hop(d)}); }

// Goes on from the last device of the way as far as devices of this rank wait.
void Channels::follow(Lock& lock, std::vector<Hop> way) {
  for (;;) {
    const Hop& last = way.back();
    const Channel& c = channels_[last.channel];
    const unsigned rank = last.sends ? c.to_rank : c.from_rank;
    if (rank != transport_.rank()) {
      ArchiveWriter writer;
      writer(way);
      lock.unlock();
      transport_.post(rank, packet(Packet::Kind::probe, last.channel, 0, writer.bytes()));
      lock.lock();
      return;
    }
    // What it waits for is under way: it does not wait any more as soon as that comes.
    const End& end = ends_[last.channel];
    if ((last.sends ? end.received : end.sent) > last.count) return;
    const std::int32_t d = last.sends ? c.to : c.from;
    const Device& next = device(d);
    if (next.ended) return deadlock(lock, std::move(way), fmt::format("device {} has come to its end", d));
    if (!stands_still(d)) return;
    const Hop mine = hop(d);
    const auto known = std::find_if(way.begin(), way.end(), [&](const Hop& h) { return h.device == d; });
    if (known == way.end()) {
      way.push_back(mine);
      continue;
    }
    if (known->serial == mine.serial) deadlock(lock, std::vector<Hop>(known, way.end()), {});
    return;
  }
}

std::string Channels::describe(const Hop& h) const {
  const Channel& c = channels_[h.channel];
  return fmt::format("device {} (rank {}) waits to {} '{}' {} device {}, message {}", h.device, h.rank, h.sends ? "send" : "receive",
                     c.name, h.sends ? "to" : "from", h.sends ? c.to : c.from,
                     h.sends && c.capacity > 0 ? h.count + 1 + static_cast<std::uint64_t>(c.capacity) : h.count + 1);
}

void Channels::deadlock(Lock& lock, std::vector<Hop> circle, const std::string& end) {
  // The same text wherever it is found.
  if (end.empty())
    std::rotate(circle.begin(),
                std::min_element(circle.begin(), circle.end(), [](const Hop& a, const Hop& b) { return a.device < b.device; }),
                circle.end());
  std::string text = "deadlock";
  for (std::size_t i = 0; i < circle.size(); ++i) text += (i == 0 ? ": " : "; ") + describe(circle[i]);
  if (!end.empty()) text += "; " + end;
  fail_here(lock, text + " [deadlock]");
}

// --- failures ----------------------------------------------------------------------------------------------------------------------------

void Channels::fail_here(Lock& lock, const std::string& why) {
  if (!failure_.empty()) return;
  failure_ = why;
  for (auto& [d, device] : devices_) device->changed.notify_all();
  lock.unlock();
  for (unsigned r = 0; r < transport_.ranks(); ++r) {
    if (r != transport_.rank()) transport_.post(r, packet(Packet::Kind::failed, 0, 0, why));
  }
  if (failed_) failed_(why);
  lock.lock();
}

void Channels::fail(const std::string& why) {
  Lock lock(mutex_);
  fail_here(lock, why);
}

void Channels::deliver(Packet p) {
  Lock lock(mutex_);
  switch (p.kind) {
    case Packet::Kind::data:
      ends_[p.channel].queue.push_back(std::move(p.bytes));
      device(channels_[p.channel].to).changed.notify_one();
      break;
    case Packet::Kind::credit:
      ends_[p.channel].acknowledged = p.count;
      device(channels_[p.channel].from).changed.notify_one();
      break;
    case Packet::Kind::probe: {
      std::vector<Hop> way;
      ArchiveReader reader(p.bytes);
      reader(way);
      if (reader.complete() && !way.empty() && failure_.empty()) follow(lock, std::move(way));
      break;
    }
    case Packet::Kind::failed:
      if (!failure_.empty()) break;
      failure_ = p.bytes;
      for (auto& [d, device] : devices_) device->changed.notify_all();
      lock.unlock();
      if (failed_) failed_(p.bytes);
      break;
    default: break;
  }
}

std::vector<std::string> Channels::left_over() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (!ends_[i].queue.empty()) names.push_back(channels_[i].name);
  }
  return names;
}

Channels::Traffic Channels::traffic(std::int32_t d) const {
  const std::lock_guard lock(mutex_);
  const auto it = devices_.find(d);
  return it == devices_.end() ? Traffic{} : it->second->traffic;
}

std::string Channels::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace pando::exec
