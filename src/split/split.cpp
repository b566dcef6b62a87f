#include "split/split.h"

#include "base/check.h"
#include "ir/checks/verify.h"
#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "split/one_op_per_device.h"
#include "split/part_builder.h"
#include "split/place.h"
#include "split/replicas.h"
#include "split/share_buffers.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/distribute/flatten.h"
#include "transform/expand.h"
#include "transform/flatten_tuples.h"
#include "transform/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace pando::split {

using namespace ir;

namespace {

class Splitter {
 public:
  Splitter(Module module, const SplitOptions& options) : m_(std::move(module)), options_(options) {}

  Program run() {
    prepare();
    for (std::int32_t d : used_devices()) parts_.try_emplace(d, m_, d);
    add_variables();
    find_streams();
    for (OpId o : m_.graph(m_.main_graph()).ops) add(o);
    finish();
    if (!left_.empty()) reject(ErrorClass::value, "stream-name", "there is no channel '{}'", left_.begin()->first);
    Program p;
    p.channels = std::move(channels_);
    p.pieces = std::move(pieces_);
    for (auto& [d, part] : parts_) p.parts.push_back(part.take());
    return p;
  }

 private:
  PartBuilder& part(std::int32_t device) { return parts_.at(device); }
  std::int32_t device_of(ValueId v) const { return m_.type_of(v).place.device.value; }

  // One device for each op, sends between them.
  void prepare() {
    check(m_);
    left_ = options_.capacities;
    for (ValueId v : m_.graph(m_.main_graph()).outputs) name_output(m_.name_of(v), m_.value(v).type);
    m_ = transform::unroll_pmap(m_);
    m_ = transform::write_out_across(std::move(m_));
    transform::expand(m_, [](const OpRow& row) { return !row.moves; });
    transform::flatten_tuples(m_);
    share_reductions(m_, options_.part_bytes);
    one_op_per_device(m_);
    transform::prune(m_);
    if (m_.replicas() > 1) spread();
    devices_ = complete_devices(m_);
    share_buffers(m_, devices_);
    insert_sends(m_, devices_);
    transform::prune(m_);
    for (OpId o : m_.graph(m_.main_graph()).ops) {
      if (m_.op(o).context != Context::normal) {
        reject(ErrorClass::not_implemented, "context-in-run", "'{}' belongs to a program of its own; ranks run the main program",
               m_.name_of(o));
      }
    }
  }

  void spread() {
    complete_devices(m_);
    Spread s = spread_replicas(m_, output_names_, options_.part_bytes);
    m_ = std::move(s.module);
    output_names_ = std::move(s.outputs);
    pieces_ = std::move(s.pieces);
  }

  // Transforms make new names. A tuple becomes its elements.
  void name_output(const std::string& name, TypeId type) {
    const Type& t = m_.type(type);
    if (t.is_tensor()) return output_names_.push_back(name);
    for (std::size_t i = 0; i < t.elements.size(); ++i) name_output(name + '.' + std::to_string(i), t.elements[i]);
  }

  std::set<std::int32_t> used_devices() const {
    std::set<std::int32_t> all;
    const Graph& main = m_.graph(m_.main_graph());
    for (ValueId v : main.inputs) all.insert(device_of(v));
    for (OpId o : main.ops) all.insert(devices_[o.index()]);
    return all;
  }

  void add_variables() {
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      const StateId id(static_cast<StateId::rep>(s));
      if (m_.state(id).input) part(device_of(m_.graph(m_.main_graph()).inputs[*m_.state(id).input])).copy_variable(id);
    }
    for (ValueId v : m_.graph(m_.main_graph()).inputs) {
      if (!is_variable(v))
        reject(ErrorClass::value, "input-without-variable", "input '{}' of the main graph is not a variable", m_.name_of(v));
    }
  }
  bool is_variable(ValueId v) const {
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      const auto& input = m_.state(StateId(static_cast<StateId::rep>(s))).input;
      if (input && m_.graph(m_.main_graph()).inputs[*input] == v) return true;
    }
    return false;
  }

  // --- streams of the host: the verifier has seen to it that each has one device
  struct Use {
    std::int32_t device = 0;
    std::int64_t blocks = 0;
  };

  void count_streams(OpId o, std::int32_t device) {
    for (const auto& [name, value] : m_.attributes(o).items()) {
      if (const auto* stream = std::get_if<HostStreamId>(&value)) uses_[*stream] = {device, uses_[*stream].blocks + 1};
    }
    for (GraphId g : m_.graphs(o)) {
      for (OpId inner : m_.graph(g).ops) count_streams(inner, device);
    }
  }

  void find_streams() {
    for (OpId o : m_.graph(m_.main_graph()).ops) count_streams(o, devices_[o.index()]);
    for (const auto& [id, use] : uses_) {
      HostEnd end{m_.stream(id).name, id, m_.stream(id).direction == HostStream::Direction::host_to_device};
      end.blocks_per_step = use.blocks;
      part(use.device).part().host.push_back(std::move(end));
    }
  }

  // --- ops
  void add(OpId o) {
    if (is_transfer(m_, o)) return add_channel(o);
    copies_[o] = part(devices_[o.index()]).copy(o);
  }

  void add_channel(OpId o) {
    const ValueId v = m_.operand(o, 0), r = m_.result(o, 0);
    PartBuilder &from = part(device_of(v)), &to = part(device_of(r));
    exec::Channel c;
    c.name = m_.name_of(r);
    c.from = device_of(v);
    c.to = device_of(r);
    c.bytes = static_cast<std::uint64_t>(m_.types().bytes_of(m_.value(v).type));
    c.capacity = options_.capacity;
    if (const auto it = left_.find(c.name); it != left_.end()) {
      c.capacity = it->second;
      left_.erase(it);
    }
    const auto number = static_cast<std::uint32_t>(channels_.size());
    const HostStreamId out = from.add_stream("send " + c.name, from.type(m_.value(v).type), false);
    from.store(from.module().main_graph(), out, from.value(v));
    from.part().channels.push_back({number, out, true});
    from.add_slots(c);
    const HostStreamId in = to.add_stream("receive " + c.name, to.type(m_.value(r).type), true);
    to.map(r, to.load(to.module().main_graph(), in, c.name));
    to.part().channels.push_back({number, in, false});
    to.add_slots(c);
    channels_.push_back(std::move(c));
  }

  // Outputs, what variables have become, the user's order, remote variables.
  void finish() {
    const Graph& main = m_.graph(m_.main_graph());
    PANDO_CHECK(main.outputs.size() == output_names_.size());
    std::set<std::string> stored;
    for (std::size_t i = 0; i < main.outputs.size(); ++i) {
      const ValueId v = main.outputs[i];
      const std::string& name = output_names_[i];
      if (!stored.insert(name).second) continue;
      PartBuilder& p = part(device_of(v));
      const HostStreamId s = p.add_stream(name, p.type(m_.value(v).type), false);
      p.store(p.module().main_graph(), s, p.value(v));
      p.part().host.push_back({name, s, false});
    }
    for (std::size_t i = 0; i < main.inputs.size(); ++i) {
      PartBuilder& p = part(device_of(main.inputs[i]));
      const ValueId mine = p.value(main.inputs[i]);
      if (device_of(main.updated_inputs[i]) != device_of(main.inputs[i])) {
        reject(ErrorClass::value, "state-on-two-devices", "'{}' lies on device {}, its new contents on device {}",
               m_.name_of(main.inputs[i]), device_of(main.inputs[i]), device_of(main.updated_inputs[i]));
      }
      p.module().graph(p.module().main_graph()).updated_inputs[p.module().value(mine).index] = p.value(main.updated_inputs[i]);
    }
    add_order();
    add_remote();
  }

  // The user's order, among the ops of each device: also what leads there over another one.
  void add_order() {
    const Graph& main = m_.graph(m_.main_graph());
    if (main.after.empty()) return;
    std::unordered_map<std::uint32_t, std::vector<OpId>> before;
    for (const auto& [first, then] : main.after) before[then.value].push_back(first);
    // By op and device: the last ones that run before it.
    std::unordered_map<std::uint32_t, std::map<std::int32_t, std::vector<OpId>>> last;
    for (OpId then : main.ops) {
      const auto edges = before.find(then.value);
      if (edges == before.end()) continue;
      auto& mine = last[then.value];
      const auto add = [&](OpId o) {
        auto& there = mine[devices_[o.index()]];
        if (std::find(there.begin(), there.end(), o) == there.end()) there.push_back(o);
      };
      for (OpId first : edges->second) {
        add(first);
        const auto theirs = last.find(first.value);
        if (theirs == last.end()) continue;
        for (const auto& [device, ops] : theirs->second) {
          if (device == devices_[first.index()]) continue;
          for (OpId o : ops) add(o);
        }
      }
      const std::int32_t device = devices_[then.index()];
      for (OpId first : mine[device]) {
        const auto a = copies_.find(first), b = copies_.find(then);
        if (a != copies_.end() && b != copies_.end()) part(device).module().graph(GraphId(0)).after.emplace_back(a->second, b->second);
      }
    }
  }

  void add_remote() {
    for (std::size_t b = 0; b < m_.buffer_count(); ++b) {
      std::vector<std::int32_t> users;
      for (auto& [d, p] : parts_) {
        if (p.uses_buffer()[b]) users.push_back(d);
      }
      PANDO_CHECK(users.size() <= 1);
      for (std::size_t s = 0; s < m_.state_count() && !users.empty(); ++s) {
        const StateId id(static_cast<StateId::rep>(s));
        if (!m_.state(id).input && m_.state(id).buffer.index() == b) part(users[0]).copy_remote(id);
      }
    }
  }

  Module m_;
  const SplitOptions& options_;
  std::map<std::string, std::int64_t> left_;
  std::vector<std::string> output_names_;
  std::optional<transform::PieceTable> pieces_;
  std::vector<std::int32_t> devices_;
  std::map<std::int32_t, PartBuilder> parts_;
  std::map<HostStreamId, Use> uses_;
  std::map<OpId, OpId> copies_;
  std::vector<exec::Channel> channels_;
};

}  // namespace

Program split_program(Module module, const SplitOptions& options) { return Splitter(std::move(module), options).run(); }

}  // namespace pando::split
