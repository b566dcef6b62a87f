#include "project/project.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "project/versions.h"
#include "split/place.h"

#include <algorithm>
#include <unordered_set>

namespace pando::project {

using namespace ir;

namespace {

class Projection {
 public:
  Projection(const LoopProgram& l, const Lags& lags, const ProjectOptions& options)
      : l_(l), m_(*l.module), lags_(lags), options_(options), buffer_(m_.value_count(), kNone), versions_(l, lags) {}

  ProjectedProgram run() {
    p_.policy = l_.policy;
    p_.drain = lags_.drain;
    p_.module = l_.module;
    make_devices();
    make_buffers();
    count_slices();
    make_streams();
    for (OpId o : l_.before) add(o, Section::before);
    for (OpId o : lags_.order) add(o, Section::loop);
    if (l_.policy.kind == PolicyKind::flush) {
      for (OpId o : l_.update) add(o, Section::update);
    }
    for (const auto& [name, capacity] : options_.capacities) {
      if (!stream_names_.contains(name))
        reject(ErrorClass::value, "stream-name", "a capacity of {} is wanted for stream '{}'; there is no such stream", capacity, name);
    }
    return std::move(p_);
  }

 private:
  enum class Section : std::uint8_t { before, loop, update };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void make_devices() {
    std::vector<std::int32_t> all;
    for (const auto* ops : {&l_.before, &l_.body, &l_.update}) {
      for (OpId o : *ops) all.push_back(l_.device(o));
    }
    for (const LoopState& s : l_.states) all.push_back(s.device);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    place_.assign(all.empty() ? 0 : static_cast<std::size_t>(all.back()) + 1, 0);
    for (std::int32_t d : all) {
      place_[static_cast<std::size_t>(d)] = p_.devices.size();
      p_.devices.emplace_back().device = d;
    }
  }
  DeviceProgram& device(std::int32_t d) { return p_.devices[place_[static_cast<std::size_t>(d)]]; }

  // States first; then values in the order of their definitions.
  void make_buffers() {
    for (std::size_t s = 0; s < l_.states.size(); ++s) {
      const LoopState& state = l_.states[s];
      Buffer b{
          state.name, m_.value(state.value).type, state.is_sum ? BufferKind::sum : BufferKind::state, versions_.copies_of_state(s), {}};
      if (!state.is_sum) b.initial = state.initial;
      buffer_[state.value.index()] = add_buffer(state.device, std::move(b));
      buffer_[state.final.index()] = buffer_[state.value.index()];
    }
    for (const auto* ops : {&l_.before, &lags_.order, &l_.update}) {
      for (OpId o : *ops) {
        for (ValueId v : m_.results(o)) {
          if (buffer_[v.index()] != kNone) continue;
          buffer_[v.index()] =
              add_buffer(l_.device(o), {m_.name_of(v), m_.value(v).type, BufferKind::value, versions_.copies_of_value(v), {}});
        }
      }
    }
  }
  std::uint32_t add_buffer(std::int32_t d, Buffer b) {
    device(d).buffers.push_back(std::move(b));
    return static_cast<std::uint32_t>(device(d).buffers.size() - 1);
  }

  // How often a sample loads (or stores) each stream of the host.
  void count_slices() {
    slices_.assign(m_.stream_count(), 0);
    slice_.assign(m_.op_count(), 0);
    for (OpId o : l_.body) {
      if (m_.row(o).effects != Effects::none) slice_[o.index()] = slices_[host_stream(o).index()]++;
    }
  }
  // In the order of the loop's text.
  void make_streams() {
    stream_.assign(m_.op_count(), kNone);
    for (const auto* ops : {&l_.before, &l_.body, &l_.update}) {
      for (OpId o : *ops) {
        if (m_.row(o).effects != Effects::none) {
          stream_[o.index()] = host_end(o, m_.op(o).operand_count == 0);
        } else if (split::is_transfer(m_, o)) {
          stream_[o.index()] = between(o, m_.type_of(m_.operand(o, 0)).place.device.value, l_.device(o));
        }
      }
    }
  }
  HostStreamId host_stream(OpId o) const { return std::get<HostStreamId>(*m_.attributes(o).find("stream")); }

  void add(OpId o, Section section) {
    if (m_.row(o).effects != Effects::none) {
      const bool load = m_.op(o).operand_count == 0;
      const std::uint32_t s = stream_[o.index()];
      append(l_.device(o), load ? ActionKind::receive : ActionKind::send, o, s, section, !load, load);
    } else if (split::is_transfer(m_, o)) {
      const std::int32_t from = m_.type_of(m_.operand(o, 0)).place.device.value, to = l_.device(o);
      const std::uint32_t s = stream_[o.index()];
      append(from, ActionKind::send, o, s, section, true, false);
      append(to, ActionKind::receive, o, s, section, false, true);
    } else {
      append(l_.device(o), ActionKind::compute, o, 0, section, true, true);
    }
  }

  void append(std::int32_t on, ActionKind kind, OpId o, std::uint32_t stream, Section section, bool operands, bool results) {
    DeviceProgram& d = device(on);
    Action a;
    a.kind = kind;
    a.op = kind == ActionKind::compute ? o : OpId();
    a.stream = stream;
    if (section == Section::loop) a.guard.first = a.guard.end = lags_.lag(o);
    if (section == Section::loop && is_update(o)) a.guard.every = static_cast<std::int32_t>(l_.policy.window);
    a.operand_begin = static_cast<std::uint32_t>(d.slots.size());
    if (operands) {
      for (std::uint32_t i = 0; i < m_.op(o).operand_count; ++i) d.slots.push_back(read(d, o, i, section));
    }
    a.result_begin = static_cast<std::uint32_t>(d.slots.size());
    a.operand_count = a.result_begin - a.operand_begin;
    if (results) {
      for (ValueId v : m_.results(o)) d.slots.push_back(write(d, o, v, section));
    }
    a.result_count = static_cast<std::uint32_t>(d.slots.size()) - a.result_begin;
    (section == Section::before ? d.before : section == Section::loop ? d.loop : d.update).push_back(a);
  }
  bool is_update(OpId o) const { return l_.policy.kind == PolicyKind::double_buffered && versions_.is_update(o); }

  Slot read(const DeviceProgram& d, OpId o, std::uint32_t operand, Section section) const {
    const ValueId v = m_.operand(o, operand);
    Slot s{buffer_[v.index()]};
    const bool ring = d.buffers[s.buffer].copies > 1 && section == Section::loop;
    if (versions_.is_state(v) && d.buffers[s.buffer].kind == BufferKind::state) s.delay = versions_.delay(o, operand);
    if (!ring) return s;
    const std::int32_t lag = lags_.lag(o);
    if (versions_.is_windowed(v)) {
      s.shift = lag;
      s.every = static_cast<std::int32_t>(l_.policy.window);
      s.offset = -s.delay;
    } else {
      s.shift = lag + s.delay;
    }
    return s;
  }
  Slot write(const DeviceProgram& d, OpId o, ValueId v, Section section) const {
    Slot s{buffer_[v.index()]};
    if (d.buffers[s.buffer].copies == 1 || section != Section::loop) return s;
    const std::int32_t lag = lags_.lag(o);
    if (versions_.is_windowed(v)) return {s.buffer, lag, static_cast<std::int32_t>(l_.policy.window), 1, 0};
    s.shift = versions_.is_state(v) ? lag - 1 : lag;
    return s;
  }

  std::uint32_t host_end(OpId o, bool load) {
    const HostStream& h = m_.stream(host_stream(o));
    Stream s;
    s.host = h.name;
    s.slice = slice_[o.index()];
    s.slices = slices_[host_stream(o).index()];
    s.name = load ? m_.name_of(m_.result(o)) : m_.name_of(m_.operand(o, 0));
    (load ? s.to : s.from) = l_.device(o);
    return add_stream(std::move(s), h.dtype, h.shape);
  }
  std::uint32_t between(OpId o, std::int32_t from, std::int32_t to) {
    Stream s;
    s.from = from;
    s.to = to;
    std::string value = m_.name_of(m_.operand(o, 0));
    // b0 goes from device 0 to device 1 on b01.
    if (value.size() > 1 && value.ends_with(std::to_string(from))) value.resize(value.size() - std::to_string(from).size());
    s.name = value + (from < 10 && to < 10 ? "" : "_") + std::to_string(from) + (from < 10 && to < 10 ? "" : "_") + std::to_string(to);
    const Type& t = m_.type_of(m_.operand(o, 0));
    return add_stream(std::move(s), t.dtype, t.shape);
  }
  std::uint32_t add_stream(Stream s, DType dtype, const Shape& shape) {
    s.type = m_.type(tensor_type(dtype, shape));
    s.bytes = m_.types().bytes_of(s.type);
    const std::string wanted = s.name;
    for (int n = 1; !stream_names_.insert(s.name).second; ++n) s.name = wanted + "_" + std::to_string(n);
    const auto it = options_.capacities.find(s.name);
    s.capacity = it == options_.capacities.end() ? options_.capacity : it->second;
    p_.streams.push_back(std::move(s));
    return static_cast<std::uint32_t>(p_.streams.size() - 1);
  }

  const LoopProgram& l_;
  const Module& m_;
  const Lags& lags_;
  const ProjectOptions& options_;
  ProjectedProgram p_;
  std::vector<std::size_t> place_;
  // By op: its stream. By value: its buffer on its device.
  std::vector<std::uint32_t> stream_;
  std::vector<std::uint32_t> buffer_;
  Versions versions_;
  std::vector<std::int64_t> slices_, slice_;
  std::unordered_set<std::string> stream_names_;
};

}  // namespace

ProjectedProgram project(const LoopProgram& loop, const Lags& lags, const ProjectOptions& options) {
  return Projection(loop, lags, options).run();
}

ProjectedProgram project(const LoopProgram& loop, const ProjectOptions& options) { return project(loop, solve_lags(loop), options); }

}  // namespace pando::project
