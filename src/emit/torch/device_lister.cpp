// What one device's program does, as a key of numbers, and its lists: what ranks that share a file differ in. Quicker than the text.
#include "emit/torch/device_lister.h"

#include "base/check.h"
#include "emit/torch/assemble.h"
#include "emit/torch/python_text.h"
#include "ir/op_row.h"

#include <limits>

namespace pando::emit {

using namespace ir;

namespace {

constexpr std::uint32_t kNoStep = std::numeric_limits<std::uint32_t>::max();

class DeviceLister {
 public:
  DeviceLister(const Placed& placed, std::int32_t device, bool with_outputs, KeyTables& tables)
      : p_(placed),
        m_(placed.module),
        steps_(placed.devices.at(device)),
        with_outputs_(with_outputs),
        tables_(tables),
        program_(placed.module, device, true) {
    tables_.numbers.resize(m_.value_count(), 0);
  }

  ProgramText list() {
    next_ = 1;
    first_number_ = tables_.next;
    list_inputs();
    std::map<std::uint32_t, std::vector<const DeviceSteps::Output*>> outputs;
    if (with_outputs_) {
      std::unordered_map<std::uint32_t, std::uint32_t> made;
      for (const auto& o : steps_.outputs) made[o.value.value] = kNoStep;
      for (std::uint32_t i = 0; i < steps_.steps.size(); ++i) {
        for (ValueId v : steps_.steps[i].writes) {
          if (const auto it = made.find(v.value); it != made.end()) it->second = i;
        }
      }
      for (const auto& o : steps_.outputs) outputs[made.at(o.value.value)].push_back(&o);
    }
    const auto store = [&](std::uint32_t at) {
      const auto it = outputs.find(at);
      if (it == outputs.end()) return;
      for (const auto* o : it->second) {
        text(program_.store(o->name, o->local));
        number(o->value);
      }
    };
    store(kNoStep);
    for (std::uint32_t i = 0; i < steps_.steps.size(); ++i) {
      step(steps_.steps[i]);
      store(i);
    }
    const Graph& main = m_.graph(m_.main_graph());
    for (const std::uint32_t i : steps_.inputs) number(p_.now(main.updated_inputs[i]));
    count_loads(m_, steps_, program_.text());
    tables_.next += next_;
    program_.text().functions += key_;
    return std::move(program_.text());
  }

 private:
  void put(std::uint32_t n) { key_.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void text(std::string_view s) {
    put(static_cast<std::uint32_t>(s.size()));
    key_ += s;
  }
  // Numbers in the order in which values appear. What an earlier listing gave is below first_number_.
  void number(ValueId v) {
    std::uint32_t& n = tables_.numbers[v.value];
    if (n < first_number_) n = first_number_ + next_++;
    put(n - first_number_);
  }
  void type(ValueId v) { put(tables_.type(m_.types(), m_.value(v).type)); }

  void list_inputs() {
    std::map<std::uint32_t, StateId> states;
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      const StateId id(static_cast<StateId::rep>(s));
      if (m_.state(id).input) states[*m_.state(id).input] = id;
    }
    for (const std::uint32_t i : steps_.inputs) {
      const ValueId input = m_.graph(m_.main_graph()).inputs[i];
      const State& s = m_.state(states.at(i));
      program_.variable(s.name, m_.value(input).type, s.data.valid() ? m_.blob(s.data) : HostTensor());
      type(input);
      number(input);
    }
  }

  void step(const DeviceStep& s) {
    const Op& op = m_.op(s.op);
    put(static_cast<std::uint32_t>(s.kind));
    put(static_cast<std::uint32_t>(op.kind.index()) * 2 + (op.in_place ? 1 : 0));
    put(static_cast<std::uint32_t>(s.reads.size()));
    for (ValueId v : s.reads) {
      number(v);
      type(v);
    }
    put(static_cast<std::uint32_t>(s.writes.size()));
    for (ValueId v : s.writes) {
      number(v);
      type(v);
    }
    if (s.kind == StepKind::local) return local(s.op);
    if (s.kind == StepKind::send) {
      put(static_cast<std::uint32_t>(program_.peer(m_.type_of(m_.result(s.op)).place.device.value)));
    } else if (s.kind == StepKind::receive) {
      put(static_cast<std::uint32_t>(program_.peer(std::max(0, m_.type_of(p_.now(m_.operand(s.op, 0))).place.device.value))));
    } else {
      collective(s.op);
    }
  }

  void collective(OpId o) {
    const Placed::Members& members = p_.collectives.at(o.value);
    put(tables_.attributes(m_, o));
    put(static_cast<std::uint32_t>(program_.group(members.devices)));
    put(static_cast<std::uint32_t>(members.root));
    put(static_cast<std::uint32_t>(members.parts));
    for (const auto* side : {&members.operands, &members.results}) {
      for (ValueId v : *side) put(v.valid() ? tables_.type(m_.types(), m_.value(v).type) : kNoStep);
    }
  }

  void local(OpId o) {
    const OpRow& row = m_.row(o);
    const Attributes& a = m_.attributes(o);
    if (row.constant) return text(program_.constant(o));
    put(tables_.attributes(m_, o));
    if (has(row.effects, Effects::code)) return;
    if (has(row.effects, Effects::stream)) {
      const HostStreamId s = std::get<HostStreamId>(*a.find("stream"));
      const std::string& name = m_.stream(s).name;
      return text(m_.results(o).empty() ? program_.store(name, name) : program_.load(s, name));
    }
    if (has(row.effects, Effects::remote)) return put(static_cast<std::uint32_t>(program_.buffer(std::get<BufferId>(*a.find("buffer")))));
    for (GraphId g : m_.graphs(o)) function(g, row.control == Control::branch ? Ints() : a.ints("modified"));
  }

  void function(GraphId graph, const Ints& modified) {
    const auto [it, is_new] = functions_.try_emplace({graph.value, modified}, static_cast<std::uint32_t>(functions_.size()));
    put(it->second);
    if (!is_new) return;
    const Graph& g = m_.graph(graph);
    put(static_cast<std::uint32_t>(g.ops.size()));
    for (ValueId v : g.inputs) number(v);
    for (OpId o : g.ops) {
      step({o, StepKind::local, {m_.operands(o).begin(), m_.operands(o).end()}, {m_.results(o).begin(), m_.results(o).end()}});
    }
    for (ValueId v : g.outputs) number(v);
    for (ValueId v : g.updated_inputs) number(v);
  }

  const Placed& p_;
  const Module& m_;
  const DeviceSteps& steps_;
  bool with_outputs_;
  KeyTables& tables_;
  ProgramWriter program_;
  std::string key_;
  std::uint32_t next_ = 1, first_number_ = 0;
  std::map<std::pair<std::uint32_t, Ints>, std::uint32_t> functions_;
};

}  // namespace

std::uint32_t KeyTables::type(const TypeTable& types, TypeId id) {
  if (id.index() >= types_.size()) types_.resize(id.index() + 1, 0);
  std::uint32_t& n = types_[id.index()];
  if (n != 0) return n;
  const Type& t = types[id];
  return n = number_of(t.is_tensor() ? std::string(name_of(t.dtype)) + py_tuple(t.shape) : "tuple");
}

std::uint32_t KeyTables::attributes(const Module& m, OpId o) {
  const AttributesId id = m.op(o).attributes;
  if (id.index() >= attributes_.size()) attributes_.resize(id.index() + 1, 0);
  std::uint32_t& n = attributes_[id.index()];
  if (n != 0) return n;
  std::string text;
  for (const auto& [name, value] : m.attributes(o).items()) {
    // Of streams, buffers and constants the program has numbers of its own.
    const bool is_id =
        std::holds_alternative<BlobId>(value) || std::holds_alternative<HostStreamId>(value) || std::holds_alternative<BufferId>(value);
    if (!is_id) text += name + "=" + py_value(value) + ";";
  }
  return n = number_of(text);
}

std::uint32_t KeyTables::number_of(const std::string& text) {
  return texts_.try_emplace(text, static_cast<std::uint32_t>(texts_.size() + 1)).first->second;
}

ProgramText list_device(const Placed& placed, std::int32_t device, bool with_outputs, KeyTables& tables) {
  return DeviceLister(placed, device, with_outputs, tables).list();
}

}  // namespace pando::emit
