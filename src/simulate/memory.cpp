#include "simulate/simulate.h"

#include <algorithm>
#include <unordered_map>

namespace pando::simulate {

namespace {

// What is in memory relative to when a body began: now, at its peak, and the most of each kind.
struct Profile {
  KindBytes now{}, at_peak{}, most{};
  std::int64_t total = 0, peak = 0;

  void add(MemoryKind kind, std::int64_t bytes) {
    const auto k = static_cast<std::size_t>(kind);
    now[k] += bytes;
    total += bytes;
    if (now[k] > most[k]) most[k] = now[k];
    if (total > peak) {
      peak = total;
      at_peak = now;
    }
  }
  // Something whose profile is known happens now.
  void add(const Profile& p) {
    if (total + p.peak > peak) {
      peak = total + p.peak;
      for (std::size_t k = 0; k < kMemoryKinds; ++k) at_peak[k] = now[k] + p.at_peak[k];
    }
    for (std::size_t k = 0; k < kMemoryKinds; ++k) {
      most[k] = std::max(most[k], now[k] + p.most[k]);
      now[k] += p.now[k];
    }
    total += p.total;
  }
};

class MemoryRun {
 public:
  // `events`: where the bytes in use during each event go; of what is not folded.
  MemoryRun(const Program& program, bool folded, std::vector<std::int64_t>* events = nullptr)
      : program_(program), folded_(folded), events_(events), known_(program.bodies.size()) {}

  // By the body's devices.
  const std::vector<Profile>& folded_profile(std::uint32_t body) {
    if (known_[body].empty() && !program_.bodies[body].devices.empty()) {
      std::vector<Profile> p(program_.bodies[body].devices.size());
      run(program_.bodies[body], p, identity(p.size()));
      known_[body] = std::move(p);
    }
    return known_[body];
  }

  // `map`: the body's devices among `devices`.
  void run(const Body& body, std::vector<Profile>& devices, std::span<const std::uint32_t> map) {
    std::vector<std::uint32_t> left(body.slots.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = body.slots[i].uses;
    const auto allocate = [&](SlotId r, int sign) {
      devices[map[body.slots[r].device]].add(body.slots[r].kind, sign * body.slots[r].bytes);
    };
    for (const Step& s : body.steps) {
      if (s.kind == StepKind::call) {
        call(body, s, devices, map);
      } else if (!s.in_place) {
        for (SlotId r : body.results_of(s)) allocate(r, 1);
      }
      if (events_ && s.kind != StepKind::call)
        for (const std::uint32_t d : body.devices_of(s)) events_->push_back(devices[map[d]].total);
      for (SlotId o : body.operands_of(s)) {
        const Slot& slot = body.slots[o];
        if (slot.given || --left[o] > 0 || slot.kept) continue;
        allocate(o, -1);
      }
      if (s.in_place) continue;
      for (SlotId r : body.results_of(s)) {
        if (body.slots[r].uses == 0 && !body.slots[r].kept) allocate(r, -1);
      }
    }
  }

  static std::vector<std::uint32_t> identity(std::size_t n) {
    std::vector<std::uint32_t> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::uint32_t>(i);
    return all;
  }

 private:
  void call(const Body& body, const Step& s, std::vector<Profile>& devices, std::span<const std::uint32_t> map) {
    const Body& callee = program_.bodies[s.body];
    std::vector<std::uint32_t> callee_map;
    for (std::uint32_t d : body.devices_of(s)) callee_map.push_back(map[d]);
    const std::int64_t trips = folded_ ? std::min<std::int64_t>(s.trips, 2) : s.trips;
    for (std::int64_t t = 0; t < trips; ++t) {
      if (folded_) {
        const std::vector<Profile>& p = folded_profile(s.body);
        for (std::size_t d = 0; d < p.size(); ++d) devices[callee_map[d]].add(p[d]);
      } else {
        run(callee, devices, callee_map);
      }
      hand_back(callee, devices, callee_map);
      if (t > 0) release_results(callee, devices, callee_map);
    }
  }

  // A result that is an input, or stands among the results twice, is a copy for the caller.
  void hand_back(const Body& callee, std::vector<Profile>& devices, std::span<const std::uint32_t> map) {
    for (std::size_t i = 0; i < callee.own_outputs; ++i) {
      const SlotId o = callee.outputs[i];
      const bool again = std::find(callee.outputs.begin(), callee.outputs.begin() + static_cast<std::ptrdiff_t>(i), o) !=
                         callee.outputs.begin() + static_cast<std::ptrdiff_t>(i);
      if (callee.slots[o].given || again) devices[map[callee.slots[o].device]].add(callee.slots[o].kind, callee.slots[o].bytes);
    }
  }

  // The results of the trip before make room for this one's.
  void release_results(const Body& callee, std::vector<Profile>& devices, std::span<const std::uint32_t> map) {
    for (std::size_t i = 0; i < callee.own_outputs; ++i) {
      const Slot& o = callee.slots[callee.outputs[i]];
      devices[map[o.device]].add(o.kind, -o.bytes);
    }
  }

  const Program& program_;
  bool folded_;
  std::vector<std::int64_t>* events_;
  std::vector<std::vector<Profile>> known_;
};

// By the devices of the main graph's body, which there is.
std::vector<Profile> run_main(const Program& program, MemoryRun run) {
  const Body& main = program.bodies.front();
  std::vector<Profile> profiles(main.devices.size());
  for (const Slot& s : main.slots) {
    if (s.given) profiles[s.device].add(s.kind, s.bytes);
  }
  run.run(main, profiles, MemoryRun::identity(profiles.size()));
  return profiles;
}

}  // namespace

std::vector<std::int64_t> memory_of_events(const Program& program) {
  std::vector<std::int64_t> bytes;
  if (!program.bodies.empty()) run_main(program, MemoryRun(program, false, &bytes));
  return bytes;
}

std::vector<DeviceMemory> measure_memory(const Program& program, bool folded) {
  std::vector<DeviceMemory> all(static_cast<std::size_t>(program.devices()));
  if (program.bodies.empty()) return all;
  const Body& main = program.bodies.front();
  const std::vector<Profile> profiles = run_main(program, MemoryRun(program, folded));
  for (std::size_t d = 0; d < profiles.size(); ++d) {
    all[static_cast<std::size_t>(main.devices[d].number)] = {profiles[d].peak, profiles[d].at_peak, profiles[d].most};
  }
  return all;
}

}  // namespace pando::simulate
