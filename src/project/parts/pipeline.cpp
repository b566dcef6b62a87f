#include "project/parts/pipeline.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/semantics/infer.h"
#include "project/checks/check.h"
#include "project/text/parse.h"
#include "split/part_builder.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace pando::project {

using namespace ir;
using namespace pando::split;

namespace {

// The number of each stream that connects two devices among the channels.
std::map<std::uint32_t, std::uint32_t> channel_numbers(const ProjectedProgram& p) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t s = 0; s < p.streams.size(); ++s) {
    if (p.streams[s].from != kHost && p.streams[s].to != kHost) numbers.emplace(s, static_cast<std::uint32_t>(numbers.size()));
  }
  return numbers;
}

class DeviceWriter {
 public:
  DeviceWriter(const ProjectedProgram& p, const DeviceProgram& d, std::int64_t samples, const std::vector<exec::Channel>& channels)
      : p_(p),
        d_(d),
        samples_(samples),
        part_(*p.module, d.device),
        channels_(channels),
        numbers_(channel_numbers(p)),
        graph_(part_.module().main_graph()) {}

  Part write() {
    Module& m = part_.module();
    std::vector<ValueId> variables(d_.buffers.size());
    for (std::uint32_t b = 0; b < d_.buffers.size(); ++b) {
      const Buffer& buffer = d_.buffers[b];
      if (buffer.kind != BufferKind::state) continue;
      variables[b] = part_.add_variable(buffer.name, Type(m.type(part_.type(buffer.type))), buffer.initial);
      for (std::int64_t c = 0; c < buffer.copies; ++c) now_[{b, c}] = variables[b];
      newest_[b] = 0;
    }
    for (const Action& a : d_.before) emit(a, 0);
    if (p_.policy.kind == PolicyKind::flush) {
      windows(samples_ / p_.policy.window);
    } else {
      loop(samples_);
    }
    for (std::uint32_t b = 0; b < d_.buffers.size(); ++b) {
      if (d_.buffers[b].kind == BufferKind::state)
        m.graph(m.main_graph()).updated_inputs[m.value(variables[b]).index] = now_.at({b, newest_.at(b)});
    }
    return part_.take();
  }

 private:
  using Place = std::pair<std::uint32_t, std::int64_t>;  // buffer and copy

  Place place(const Slot& s, std::int64_t trip) const { return {s.buffer, s.copy(trip, d_.buffers[s.buffer].copies)}; }
  bool begins_sum(const Action& a, const Slot& s, std::int64_t trip) const {
    const bool adds = d_.buffers[s.buffer].kind == BufferKind::sum && a.result_count == 1 && d_.results(a)[0].buffer == s.buffer;
    return adds && p_.policy.windowed() && (trip - a.guard.first) % p_.policy.window == 0;
  }

  // --- the loop
  // After so many trips everything is at the same place again.
  std::int64_t period() const {
    std::int64_t n = p_.policy.kind == PolicyKind::double_buffered ? p_.policy.window : 1;
    for (const Action& a : d_.loop) {
      n = std::lcm(n, std::int64_t{a.guard.every});
      for (const auto& slots : {d_.operands(a), d_.results(a)}) {
        for (const Slot& s : slots) n = std::lcm(n, d_.buffers[s.buffer].copies * s.every);
      }
    }
    return n;
  }

  using Visit = std::function<void(const Action&, std::int64_t trip)>;
  void visit_trips(std::int64_t begin, std::int64_t end, std::int64_t samples, const Visit& visit) const {
    for (std::int64_t t = begin; t < end; ++t) {
      for (const Action& a : d_.loop) {
        if (a.guard.runs(t, samples)) visit(a, t);
      }
    }
  }
  Visit emitter() {
    return [this](const Action& a, std::int64_t t) { emit(a, t); };
  }

  void loop(std::int64_t samples) {
    // Trips in which every action runs (or is the one of `every`), and no sum of a drained window begins.
    std::int64_t begin = 0, end = samples + p_.drain;
    for (const Action& a : d_.loop) {
      begin = std::max(begin, std::int64_t{a.guard.first} + (p_.policy.kind == PolicyKind::flush));
      end = std::min(end, samples + a.guard.end);
    }
    const std::int64_t n = period(), rounds = end > begin ? (end - begin) / n : 0;
    std::int64_t t = 0;
    if (rounds >= 2) {
      visit_trips(0, begin, samples, emitter());
      const auto round = [&](const Visit& visit) { visit_trips(begin, begin + n, samples, visit); };
      repeat(rounds, round, [&] { round(emitter()); });
      t = begin + n * rounds;
    }
    visit_trips(t, samples + p_.drain, samples, emitter());
  }

  // Each is drained, then the update runs.
  void windows(std::int64_t count) {
    const auto write_one = [&] {
      loop(p_.policy.window);
      for (const Action& a : d_.update) emit(a, 0);
    };
    if (count < 2) return write_one();
    const auto all = [&](const Visit& visit) {
      visit_trips(0, p_.policy.window + p_.drain, p_.policy.window, visit);
      for (const Action& a : d_.update) visit(a, 0);
    };
    repeat(count, all, write_one);
  }

  // `round` visits the actions of a round, `write_round` writes them.
  void repeat(std::int64_t rounds, const std::function<void(const Visit&)>& round, const std::function<void()>& write_round) {
    Module& m = part_.module();
    std::set<Place> read, written;  // before anything of the round writes it; by the round
    round([&](const Action& a, std::int64_t t) {
      for (const Slot& s : d_.operands(a)) {
        if (!begins_sum(a, s, t) && !written.contains(place(s, t))) read.insert(place(s, t));
      }
      for (const Slot& s : d_.results(a)) written.insert(place(s, t));
    });
    std::vector<Place> carried(written.begin(), written.end()), all = carried;
    for (const Place& p : read) {
      if (!written.contains(p)) all.push_back(p);
    }
    const GraphId outer = graph_, body = m.add_graph(m.graph_named("round") ? "round " + std::to_string(m.graph_count()) : "round");
    std::vector<ValueId> operands;
    std::map<Place, ValueId> inside;
    for (const Place& p : all) {
      // What is written first in a round has no contents before.
      const auto it = now_.find(p);
      operands.push_back(it != now_.end() ? it->second : zeros(d_.buffers[p.first]));
      inside[p] = m.add_input(body, Type(m.type_of(operands.back())), d_.buffers[p.first].name);
    }
    std::swap(now_, inside);
    graph_ = body;
    write_round();
    for (const Place& p : carried) m.add_output(body, now_.at(p));
    std::swap(now_, inside);
    graph_ = outer;
    const OpId op = infer_and_add(m, outer, "repeat", operands, {{"count", rounds}}, {{body}});
    for (std::size_t i = 0; i < carried.size(); ++i) now_[carried[i]] = m.result(op, i);
  }

  // --- actions
  ValueId zeros(const Buffer& b) {
    Module& m = part_.module();
    Type t = m.type(part_.type(b.type));
    t.place.device = Device::numbered(0);
    const OpId op =
        infer_and_add(m, graph_, "constant", {}, {{"data", m.add_blob(HostTensor(t.dtype, t.shape))}}, {}, false, t.place, b.name);
    return m.result(op);
  }

  ValueId read(const Action& a, const Slot& s, std::int64_t trip) {
    const Buffer& b = d_.buffers[s.buffer];
    if (begins_sum(a, s, trip)) return zeros(b);
    const auto it = now_.find(place(s, trip));
    if (it != now_.end()) return it->second;
    if (b.kind == BufferKind::sum) return zeros(b);
    reject(ErrorClass::value, "C1-order", "device {}, trip {}: '{}' reads '{}', which nothing has written", d_.device, trip, name_of(d_, a),
           b.name);
  }
  void write(const Slot& s, std::int64_t trip, ValueId v) {
    const Place p = place(s, trip);
    now_[p] = v;
    newest_[p.first] = p.second;
  }

  void emit(const Action& a, std::int64_t trip) {
    if (a.kind == ActionKind::send) {
      const Slot& s = d_.operands(a)[0];
      part_.store(graph_, stream(a.stream, s), read(a, s, trip));
    } else if (a.kind == ActionKind::receive) {
      const Slot& s = d_.results(a)[0];
      write(s, trip, part_.load(graph_, stream(a.stream, s), d_.buffers[s.buffer].name));
    } else {
      std::vector<ValueId> operands;
      for (const Slot& s : d_.operands(a)) operands.push_back(read(a, s, trip));
      const OpId op = part_.copy(a.op, graph_, operands);
      const auto results = d_.results(a);
      for (std::size_t i = 0; i < results.size(); ++i) write(results[i], trip, part_.module().result(op, i));
    }
  }

  // The part's stream, which is made when it is first used.
  HostStreamId stream(std::uint32_t number, const Slot& slot) {
    const auto [it, is_new] = streams_.try_emplace(number);
    if (!is_new) return it->second;
    const Stream& s = p_.streams[number];
    const bool to_device = s.to == d_.device;
    const TypeId type = part_.type(d_.buffers[slot.buffer].type);
    if (const auto channel = numbers_.find(number); channel != numbers_.end()) {
      it->second = part_.add_stream((to_device ? "receive " : "send ") + s.name, type, to_device);
      part_.part().channels.push_back({channel->second, it->second, !to_device});
      part_.add_slots(channels_[channel->second]);
    } else {
      it->second = part_.add_stream(s.host, type, to_device);
      part_.part().host.push_back({s.host, it->second, to_device, {s.slice}, s.slices, samples_ * s.slices});
    }
    return it->second;
  }

  const ProjectedProgram& p_;
  const DeviceProgram& d_;
  const std::int64_t samples_;
  PartBuilder part_;
  const std::vector<exec::Channel>& channels_;
  const std::map<std::uint32_t, std::uint32_t> numbers_;
  GraphId graph_;
  std::map<Place, ValueId> now_;
  std::map<std::uint32_t, std::int64_t> newest_;
  std::map<std::uint32_t, HostStreamId> streams_;
};

}  // namespace

Program pipeline(const ProjectedProgram& p, std::int64_t samples) {
  if (p.policy.windowed() && samples % p.policy.window != 0) {
    reject(ErrorClass::value, "samples-of-windows", "{} samples; windows have {}", samples, p.policy.window);
  }
  Program out;
  for (const Stream& s : p.streams) {
    if (s.from == kHost || s.to == kHost) continue;
    out.channels.push_back(
        {s.name, s.from, s.to, 0, 0, static_cast<std::uint64_t>(s.bytes), s.capacity == kUnbounded ? exec::kUnboundedChannel : s.capacity});
  }
  for (const DeviceProgram& d : p.devices) out.parts.push_back(DeviceWriter(p, d, samples, out.channels).write());
  return out;
}

Program read_pipeline(const std::string& text, const std::string& file, std::int64_t samples, const SplitOptions& capacities,
                      bool replace) {
  if (samples < 1) reject(ErrorClass::value, "samples", "{} is a projected program: say on how many --samples it runs", file);
  ProjectedProgram p = parse(text, file);
  std::map<std::string, std::int64_t> left = capacities.capacities;
  for (Stream& s : p.streams) {
    if (replace) s.capacity = capacities.capacity;
    if (const auto it = capacities.capacities.find(s.name); it != capacities.capacities.end()) s.capacity = it->second;
    left.erase(s.name);
  }
  if (!left.empty()) reject(ErrorClass::value, "stream-name", "there is no stream '{}'", left.begin()->first);
  if (const auto found = verify(p); !found.empty()) reject(ErrorClass::value, "projected-program", "{}", to_string(found));
  return pipeline(p, samples);
}

}  // namespace pando::project
