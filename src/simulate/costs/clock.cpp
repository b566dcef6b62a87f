#include "base/check.h"
#include "simulate/costs/messages.h"
#include "simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace pando::simulate {

namespace {

Ticks ticks_of(double seconds) { return static_cast<Ticks>(std::llround(seconds * kTicksPerSecond)); }

// What a body needs of each of its devices, its callees' needs included.
struct Needs {
  bool computes = false, transfers = false;
  // Levels whose shared links it uses, as bits.
  std::uint64_t shared = 0;
};

struct Stream {
  Ticks compute = 0, link = 0, link_start = 0;
  // Thousandths that its transfer takes from what is computed beside it.
  Ticks slowdown = 0;
  Ticks computing = 0, transferring = 0;
};

class Clock {
 public:
  Clock(const Program& program, const Cluster& cluster, const ClockOptions& options)
      : program_(program), cluster_(cluster), options_(options), needs_(program.bodies.size()), memo_(program.bodies.size()) {
    const auto devices = static_cast<std::size_t>(program.devices());
    streams_.resize(devices);
    durations_.resize(program.bodies.size());
    for (std::size_t b = 0; b < program.bodies.size(); ++b) {
      for (const Step& s : program.bodies[b].steps) durations_[b].push_back(ticks_of(s.seconds));
    }
    for (const NetworkLevel& l : cluster.levels) slowdown_.push_back(static_cast<Ticks>(std::llround(l.slowdown * 1000)));
    for (std::size_t l = 0; l < cluster.levels.size(); ++l) {
      shared_.emplace_back();
      if (l > 0 && cluster.levels[l].shared_bytes_per_second > 0) {
        shared_.back().resize(devices / static_cast<std::size_t>(unit_size(l)) + 1, 0);
      }
    }
  }

  Timeline run() {
    Timeline t;
    if (program_.bodies.empty()) return t;
    find_needs(0);
    const Body& main = program_.bodies.front();
    std::vector<std::int32_t> map;
    for (const BodyDevice& d : main.devices) map.push_back(d.number);
    std::vector<Ticks> ready(main.slots.size(), 0);
    run_body(0, map, ready);
    for (const Stream& s : streams_) {
      DeviceTimes d;
      d.end = static_cast<double>(std::max(s.compute, s.link)) / kTicksPerSecond;
      d.computing = static_cast<double>(s.computing) / kTicksPerSecond;
      d.transferring = static_cast<double>(s.transferring) / kTicksPerSecond;
      t.seconds = std::max(t.seconds, d.end);
      t.devices.push_back(d);
    }
    t.events = std::move(events_);
    t.messages = std::move(messages_);
    t.steps_run = steps_run_;
    t.steps_covered = program_.unfolded_steps();
    return t;
  }

 private:
  std::int32_t unit_size(std::size_t level) const { return std::max(1, cluster_.levels[level - 1].devices); }
  Ticks* shared(std::size_t level, std::int32_t device) {
    auto& units = shared_[level];
    return units.empty() ? nullptr : &units[static_cast<std::size_t>(device / unit_size(level))];
  }

  const std::vector<Needs>& find_needs(std::uint32_t body) {
    std::vector<Needs>& n = needs_[body];
    const Body& b = program_.bodies[body];
    if (!n.empty() || b.devices.empty()) return n;
    n.resize(b.devices.size());
    for (const Step& s : b.steps) {
      const auto devices = b.devices_of(s);
      if (s.kind == StepKind::call && s.trips == 0) continue;
      if (s.kind == StepKind::call) {
        const std::vector<Needs> of_callee = find_needs(s.body);
        for (std::size_t i = 0; i < of_callee.size(); ++i) {
          Needs& mine = n[devices[i]];
          mine.computes |= of_callee[i].computes;
          mine.transfers |= of_callee[i].transfers;
          mine.shared |= of_callee[i].shared;
        }
        continue;
      }
      for (std::uint32_t d : devices) {
        if (s.kind == StepKind::compute || !options_.overlap) n[d].computes = true;
        if (s.kind == StepKind::transfer) n[d].transfers = true;
        if (s.kind == StepKind::transfer && s.level < shared_.size() && !shared_[s.level].empty()) {
          n[d].shared |= std::uint64_t{1} << s.level;
        }
      }
    }
    return n;
  }

  void run_body(std::uint32_t body, const std::vector<std::int32_t>& map, std::vector<Ticks>& ready) {
    const Body& b = program_.bodies[body];
    for (std::size_t i = 0; i < b.steps.size(); ++i) {
      const Step& s = b.steps[i];
      if (s.kind == StepKind::call) {
        run_call(b, s, map, ready);
        continue;
      }
      ++steps_run_;
      Ticks start = 0;
      for (SlotId o : b.operands_of(s)) start = std::max(start, ready[o]);
      const Ticks end =
          s.kind == StepKind::compute ? compute(b, s, durations_[body][i], map, start) : transfer(b, s, durations_[body][i], map, start);
      for (SlotId r : b.results_of(s)) ready[r] = end;
    }
  }

  Ticks compute(const Body& b, const Step& s, Ticks duration, const std::vector<std::int32_t>& map, Ticks start) {
    const auto devices = b.devices_of(s);
    for (std::uint32_t d : devices) start = std::max(start, stream(map, d).compute);
    Ticks longest = start + duration;
    if (options_.overlap) {
      for (std::uint32_t d : devices) {
        const Stream& st = stream(map, d);
        const Ticks beside = std::min(start + duration, st.link) - std::max(start, st.link_start);
        if (beside > 0) longest = std::max(longest, start + duration + beside * st.slowdown / 1000);
      }
    }
    for (std::uint32_t d : devices) {
      Stream& st = stream(map, d);
      st.compute = longest;
      st.computing += longest - start;
      record(s, map[d], false, start, longest);
    }
    return longest;
  }

  Ticks transfer(const Body& b, const Step& s, Ticks duration, const std::vector<std::int32_t>& map, Ticks start) {
    const auto devices = b.devices_of(s);
    const std::size_t level = s.level;
    for (std::uint32_t d : devices) {
      Stream& st = stream(map, d);
      start = std::max(start, options_.overlap ? st.link : std::max(st.link, st.compute));
      if (level < shared_.size()) {
        if (const Ticks* u = shared(level, map[d])) start = std::max(start, *u);
      }
    }
    const Ticks end = start + duration;
    for (std::uint32_t d : devices) {
      Stream& st = stream(map, d);
      st.link_start = start;
      st.link = end;
      if (!options_.overlap) st.compute = end;
      st.transferring += duration;
      st.slowdown = level < slowdown_.size() ? slowdown_[level] : 0;
      if (level < shared_.size()) {
        if (Ticks* u = shared(level, map[d])) *u = end;
      }
      record(s, map[d], true, start, end);
    }
    if (options_.record_events)
      add_messages(b, s, map, static_cast<double>(start) / kTicksPerSecond, static_cast<double>(end) / kTicksPerSecond, messages_);
    return end;
  }

  Stream& stream(const std::vector<std::int32_t>& map, std::uint32_t d) { return streams_[static_cast<std::size_t>(map[d])]; }

  void record(const Step& s, std::int32_t device, bool is_transfer, Ticks start, Ticks end) {
    if (!options_.record_events) return;
    events_.push_back(
        {s.label, device, is_transfer, static_cast<double>(start) / kTicksPerSecond, static_cast<double>(end - start) / kTicksPerSecond});
  }

  // --- calls ----------------------------------------------------------------------------------------------------------------------------

  void run_call(const Body& b, const Step& s, const std::vector<std::int32_t>& map, std::vector<Ticks>& ready) {
    const Body& callee = program_.bodies[s.body];
    std::vector<std::int32_t> inner;
    for (std::uint32_t d : b.devices_of(s)) inner.push_back(map[d]);
    std::vector<Ticks> inputs, outputs;
    for (SlotId o : b.operands_of(s)) inputs.push_back(ready[o]);
    PANDO_CHECK(inputs.size() == callee.inputs.size());
    Key before;
    for (std::int64_t t = 0; t < s.trips; ++t) {
      // An operand is not there before the earliest stream of the call is free: what happened long ago is of no interest.
      const Ticks base = base_of(s.body, inner);
      for (Ticks& i : inputs) i = std::max(i, base);
      if (!options_.folded || options_.record_events) {
        run_trip(s.body, inner, inputs, outputs);
      } else {
        Key key = key_of(s.body, inner, inputs, base);
        if (t > 0 && key.relative == before.relative) {
          shift(s.body, inner, inputs, outputs, key.base - before.base, s.trips - t);
          break;
        }
        run_trip_once(s.body, inner, inputs, outputs, key);
        before = std::move(key);
      }
      // What the trip hands back is what the next one begins with.
      for (std::size_t i = 0; i < outputs.size() && s.trips > 1; ++i) {
        if (callee.carried[i] >= 0) inputs[static_cast<std::size_t>(callee.carried[i])] = outputs[i];
      }
    }
    if (s.trips == 0) {
      for (std::size_t i = 0; i < callee.outputs.size(); ++i) {
        outputs.push_back(callee.carried[i] >= 0 ? inputs[static_cast<std::size_t>(callee.carried[i])] : 0);
      }
    }
    const auto results = b.results_of(s);
    for (std::size_t i = 0; i < results.size() && i < outputs.size(); ++i) ready[results[i]] = outputs[i];
  }

  void run_trip(std::uint32_t body, const std::vector<std::int32_t>& map, const std::vector<Ticks>& inputs, std::vector<Ticks>& outputs) {
    const Body& callee = program_.bodies[body];
    std::vector<Ticks> ready(callee.slots.size(), 0);
    for (std::size_t i = 0; i < inputs.size(); ++i) ready[callee.inputs[i]] = inputs[i];
    run_body(body, map, ready);
    outputs.clear();
    for (SlotId o : callee.outputs) outputs.push_back(ready[o]);
  }

  // --- folding --------------------------------------------------------------------------------------------------------------------------

  // How late everything that the body looks at is, relative to the earliest stream that it uses. Two calls of one body with equal numbers
  // do the same.
  struct Key {
    std::vector<Ticks> relative;
    Ticks base = 0;
  };
  // What a call makes of it, relative to the same base.
  struct Outcome {
    std::vector<Ticks> relative;
  };
  struct Hash {
    std::size_t operator()(const std::vector<Ticks>& v) const {
      std::uint64_t h = 0x9e3779b97f4a7c15ULL + v.size();
      for (Ticks t : v) h = (h ^ static_cast<std::uint64_t>(t)) * 0xff51afd7ed558ccdULL, h ^= h >> 32;
      return h;
    }
  };

  // Visits every number of the streams that a body uses, in one order.
  template <class F>
  void each_stream(std::uint32_t body, const std::vector<std::int32_t>& map, F visit) {
    const std::vector<Needs>& needs = needs_[body];
    for (std::size_t d = 0; d < needs.size(); ++d) {
      Stream& st = streams_[static_cast<std::size_t>(map[d])];
      if (needs[d].computes) visit(st.compute);
      if (needs[d].transfers) visit(st.link);
      if (needs[d].shared == 0) continue;
      for (std::size_t l = 1; l < shared_.size(); ++l) {
        if (needs[d].shared >> l & 1) visit(*shared(l, map[d]));
      }
    }
  }

  Ticks base_of(std::uint32_t body, const std::vector<std::int32_t>& map) {
    Ticks base = std::numeric_limits<Ticks>::max();
    each_stream(body, map, [&](Ticks& t) { base = std::min(base, t); });
    return base == std::numeric_limits<Ticks>::max() ? 0 : base;
  }

  Key key_of(std::uint32_t body, const std::vector<std::int32_t>& map, const std::vector<Ticks>& inputs, Ticks base) {
    Key k;
    k.base = base;
    each_stream(body, map, [&](Ticks& t) { k.relative.push_back(t - base); });
    const std::vector<Needs>& needs = needs_[body];
    for (std::size_t d = 0; d < needs.size(); ++d) {
      if (!needs[d].computes) continue;
      // What was computed before cannot be slowed down any more.
      const Stream& st = streams_[static_cast<std::size_t>(map[d])];
      const bool busy = st.link > st.compute;
      k.relative.push_back(busy || needs[d].transfers ? std::max(st.link_start, st.compute) - base : 0);
      k.relative.push_back(busy ? st.link - base : 0);
      k.relative.push_back(busy ? st.slowdown : 0);
    }
    for (std::size_t l = 1; l < shared_.size(); ++l) {
      // Which of its devices share.
      for (std::size_t d = 0; d < needs.size(); ++d) {
        if (needs[d].shared >> l & 1) k.relative.push_back(map[d] / unit_size(l) - map[0] / unit_size(l));
      }
    }
    for (Ticks t : inputs) k.relative.push_back(t - base);
    return k;
  }

  void run_trip_once(std::uint32_t body, const std::vector<std::int32_t>& map, const std::vector<Ticks>& inputs,
                     std::vector<Ticks>& outputs, const Key& key) {
    const Body& callee = program_.bodies[body];
    const auto found = memo_[body].find(key.relative);
    if (found == memo_[body].end()) {
      const std::vector<Ticks> spent = spent_by(map);
      run_trip(body, map, inputs, outputs);
      Outcome o;
      each_stream(body, map, [&](Ticks& t) { o.relative.push_back(t - key.base); });
      for (std::int32_t d : map) {
        o.relative.push_back(streams_[static_cast<std::size_t>(d)].link_start - key.base);
        o.relative.push_back(streams_[static_cast<std::size_t>(d)].slowdown);
      }
      const std::vector<Ticks> now = spent_by(map);
      for (std::size_t i = 0; i < now.size(); ++i) o.relative.push_back(now[i] - spent[i]);
      for (Ticks t : outputs) o.relative.push_back(t - key.base);
      memo_[body].emplace(key.relative, std::move(o));
      return;
    }
    std::size_t i = 0;
    const std::vector<Ticks>& r = found->second.relative;
    each_stream(body, map, [&](Ticks& t) { t = key.base + r[i++]; });
    for (std::size_t d = 0; d < map.size(); ++d, i += 2) {
      if (!needs_[body][d].transfers) continue;
      streams_[static_cast<std::size_t>(map[d])].link_start = key.base + r[i];
      streams_[static_cast<std::size_t>(map[d])].slowdown = r[i + 1];
    }
    for (std::int32_t d : map) {
      streams_[static_cast<std::size_t>(d)].computing += r[i++];
      streams_[static_cast<std::size_t>(d)].transferring += r[i++];
    }
    outputs.clear();
    for (std::size_t o = 0; o < callee.outputs.size(); ++o) outputs.push_back(key.base + r[i++]);
  }

  std::vector<Ticks> spent_by(const std::vector<std::int32_t>& map) const {
    std::vector<Ticks> all;
    for (std::int32_t d : map) {
      all.push_back(streams_[static_cast<std::size_t>(d)].computing);
      all.push_back(streams_[static_cast<std::size_t>(d)].transferring);
    }
    return all;
  }

  // The last trip changed nothing but the time; so do the `trips` that are left. What a trip adds to the busy times is what the memo says
  // of the last one: run it once more, then count it often.
  void shift(std::uint32_t body, const std::vector<std::int32_t>& map, std::vector<Ticks>& inputs, std::vector<Ticks>& outputs, Ticks by,
             std::int64_t trips) {
    const std::vector<Ticks> spent = spent_by(map);
    run_trip_once(body, map, inputs, outputs, key_of(body, map, inputs, base_of(body, map)));
    const std::int64_t more = trips - 1;
    each_shared_once(body, map, [&](Ticks& t) { t += by * more; });
    for (std::size_t d = 0; d < map.size(); ++d) {
      Stream& st = streams_[static_cast<std::size_t>(map[d])];
      if (needs_[body][d].transfers) st.link_start += by * more;
      st.computing += (st.computing - spent[2 * d]) * more;
      st.transferring += (st.transferring - spent[2 * d + 1]) * more;
    }
    for (Ticks& o : outputs) o += by * more;
  }

  // Streams once each, though several devices share a unit.
  template <class F>
  void each_shared_once(std::uint32_t body, const std::vector<std::int32_t>& map, F visit) {
    std::vector<Ticks*> all;
    each_stream(body, map, [&](Ticks& t) { all.push_back(&t); });
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (Ticks* t : all) visit(*t);
  }

  const Program& program_;
  const Cluster& cluster_;
  ClockOptions options_;
  std::vector<std::vector<Needs>> needs_;
  std::vector<std::unordered_map<std::vector<Ticks>, Outcome, Hash>> memo_;
  std::vector<std::vector<Ticks>> durations_;
  std::vector<Stream> streams_;
  // By level and unit; empty where the level shares nothing.
  std::vector<std::vector<Ticks>> shared_;
  std::vector<Ticks> slowdown_;
  std::vector<Event> events_;
  std::vector<Message> messages_;
  std::int64_t steps_run_ = 0;
};

}  // namespace

Timeline run_clock(const Program& program, const Cluster& cluster, const ClockOptions& options) {
  return Clock(program, cluster, options).run();
}

}  // namespace pando::simulate
