#include "ranks/timeline/replay.h"

#include <algorithm>
#include <map>
#include <optional>

namespace pando::ranks {

namespace {

class Replay {
 public:
  Replay(const std::vector<DeviceTimeline>& devices, const std::vector<exec::Channel>& channels) : devices_(devices), channels_(channels) {
    for (std::size_t d = 0; d < devices.size(); ++d) {
      times_.emplace_back(devices[d].steps.size());
      messages_.emplace_back(devices[d].steps.size());
      for (const DoneMessage& m : devices[d].messages) messages_[d][m.step].push_back(&m);
      std::map<std::uint32_t, std::size_t> lane_of;
      for (std::size_t i = 0; i < devices[d].steps.size(); ++i) {
        const auto [it, is_new] = lane_of.emplace(devices[d].steps[i].stream, lanes_.size());
        if (is_new) lanes_.push_back({d, {}, 0, 0});
        lanes_[it->second].steps.push_back(i);
      }
    }
  }

  std::vector<std::vector<ReplayedStep>> run() {
    for (;;) {
      bool moved = false;
      for (Lane& lane : lanes_)
        while (step(lane, false)) moved = true;
      if (moved) continue;
      // Nothing more than what was not recorded can be waited for: the lane that is behind goes on.
      Lane* behind = nullptr;
      for (Lane& lane : lanes_)
        if (lane.next < lane.steps.size() && (!behind || lane.clock < behind->clock)) behind = &lane;
      if (!behind) return std::move(times_);
      step(*behind, true);
    }
  }

 private:
  struct Lane {
    std::size_t device;
    std::vector<std::size_t> steps;
    std::size_t next;
    double clock;
  };
  using Message = std::pair<std::uint32_t, std::uint64_t>;  // channel, number

  static std::optional<double> at(const std::map<Message, double>& times, const Message& m) {
    const auto it = times.find(m);
    return it != times.end() ? std::optional(it->second) : std::nullopt;
  }

  // The next step of a lane; false: it waits, or there is none. `anyway`: without what it waits for.
  bool step(Lane& lane, bool anyway) {
    if (lane.next == lane.steps.size()) return false;
    const std::size_t i = lane.steps[lane.next];
    const DeviceTimeline& device = devices_[lane.device];
    const double took = device.clock_hz > 0 ? static_cast<double>(device.steps[i].cycles) / device.clock_hz : 0;
    double begin = lane.clock, meets = 0;
    for (const DoneMessage* m : messages_[lane.device][i]) {
      const std::int64_t capacity = channels_[m->channel].capacity;
      if (!m->sends) {
        const auto sent = at(sent_, {m->channel, m->number});
        if (!sent && !anyway) return false;
        begin = std::max(begin, sent.value_or(0));
      } else if (capacity > 0 && m->number >= static_cast<std::uint64_t>(capacity)) {
        const auto taken = at(taken_, {m->channel, m->number - static_cast<std::uint64_t>(capacity)});
        if (!taken && !anyway) return false;
        begin = std::max(begin, taken.value_or(0));
      } else if (capacity == 0) {
        sent_.emplace(Message{m->channel, m->number}, begin + took);
        const auto taken = at(taken_, {m->channel, m->number});
        if (!taken && !anyway) return false;
        meets = std::max(meets, taken.value_or(0));
      }
    }
    const double end = std::max(begin + took, meets);
    for (const DoneMessage* m : messages_[lane.device][i]) (m->sends ? sent_ : taken_)[{m->channel, m->number}] = end;
    times_[lane.device][i] = {begin, end};
    lane.clock = end;
    ++lane.next;
    return true;
  }

  const std::vector<DeviceTimeline>& devices_;
  const std::vector<exec::Channel>& channels_;
  std::vector<std::vector<std::vector<const DoneMessage*>>> messages_;  // by device and step
  std::vector<Lane> lanes_;
  std::vector<std::vector<ReplayedStep>> times_;
  std::map<Message, double> sent_, taken_;
};

}  // namespace

std::vector<std::vector<ReplayedStep>> replay(const std::vector<DeviceTimeline>& devices, const std::vector<exec::Channel>& channels) {
  return Replay(devices, channels).run();
}

}  // namespace pando::ranks
