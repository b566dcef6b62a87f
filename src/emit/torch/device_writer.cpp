#include "emit/torch/function_writer.h"

#include "base/check.h"
#include "emit/torch/python_text.h"
#include "ir/op_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace pando::emit {

using namespace ir;

namespace {

// Of values that no step makes (FunctionWriter::made_at).
constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

class DeviceWriter {
 public:
  DeviceWriter(const Placed& placed, std::int32_t device)
      : p_(placed), m_(placed.module), steps_(placed.devices.at(device)), program_(placed.module, device, false) {}

  ProgramText write() {
    const Graph& main = m_.graph(m_.main_graph());
    std::vector<ValueId> keep;
    for (const std::uint32_t i : steps_.inputs) keep.push_back(p_.now(main.updated_inputs[i]));
    FunctionWriter writer(program_, "step", steps_.steps, keep);
    std::string head, body;
    name_inputs(writer, head);
    std::map<std::uint32_t, std::vector<std::size_t>> outputs;
    for (std::size_t i = 0; i < steps_.outputs.size(); ++i) {
      writer.want(steps_.outputs[i].value);
      outputs[writer.made_at(steps_.outputs[i].value)].push_back(i);
    }
    const auto give_outputs = [&](std::uint32_t at, std::string& out) {
      const auto it = outputs.find(at);
      if (it == outputs.end()) return;
      for (const std::size_t i : it->second) {
        const DeviceSteps::Output& o = steps_.outputs[i];
        program_.line(out, 4, "", fmt::format("rank.output({}, {})", py_text(program_.store(o.name, o.local)), writer.text_of(o.value)),
                      "step", "");
      }
    };
    give_outputs(kNever, head);
    writer.write(body, 4, [&](const DeviceStep& s, std::string& out) { transfer(writer, s, out); }, give_outputs);
    finish(writer, body);
    count_loads(m_, steps_, program_.text());
    ProgramText& text = program_.text();
    text.functions += "def step(rank):\n";
    if (mentions(body, "var") || mentions(head, "var")) text.functions += "    var = rank.variables\n";
    if (mentions(body + head, "const")) text.functions += "    const = rank.constants\n";
    text.functions += head + body;
    if (head.empty() && body.empty()) text.functions += "    pass\n";
    return std::move(text);
  }

 private:
  // A variable is read where it lies, unless somebody reads it after it has become another.
  void name_inputs(FunctionWriter& writer, std::string& head) {
    const Graph& main = m_.graph(m_.main_graph());
    std::map<ValueId, int> updated_inputs;
    for (const std::uint32_t i : steps_.inputs) ++updated_inputs[p_.now(main.updated_inputs[i])];
    std::map<std::uint32_t, StateId> states;
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      const StateId id(static_cast<StateId::rep>(s));
      if (m_.state(id).input) states[*m_.state(id).input] = id;
    }
    for (const std::uint32_t i : steps_.inputs) {
      const ValueId input = main.inputs[i], final = p_.now(main.updated_inputs[i]);
      const auto state = states.find(i);
      PANDO_CHECK(state != states.end());
      const State& s = m_.state(state->second);
      const std::string place = "var." + program_.variable(s.name, m_.value(input).type, s.data.valid() ? m_.blob(s.data) : HostTensor());
      places_.push_back(place);
      if (final == input) {
        writer.give(input, place, false, false);
        continue;
      }
      const std::uint32_t made = writer.made_at(final);
      const bool direct = updated_inputs[final] == 1 && made < steps_.steps.size() && !m_.row(steps_.steps[made].op).constant;
      if (direct) writer.name(final, place);
      if (direct && writer.last_read(input) <= made) {
        writer.give(input, place, true, false);
      } else {
        const std::string local = writer.new_local(m_.name_of(input));
        head += fmt::format("    {} = {}\n", local, place);
        writer.give(input, local, !direct, true);
      }
    }
  }

  // Variables that have not been put where they lie yet; none may share another's memory.
  void finish(FunctionWriter& writer, std::string& body) {
    const Graph& main = m_.graph(m_.main_graph());
    std::vector<std::string> left, right;
    std::map<std::uint32_t, std::size_t> owners;
    for (const std::uint32_t i : steps_.inputs) ++owners[writer.root(p_.now(main.updated_inputs[i]))];
    for (std::size_t n = 0; n < steps_.inputs.size(); ++n) {
      const std::uint32_t i = steps_.inputs[n];
      const ValueId final = p_.now(main.updated_inputs[i]);
      if (final == main.inputs[i]) continue;
      const std::string& text = writer.text_of(final);
      const bool shared = owners[writer.root(final)] > 1 || writer.is_foreign(final);
      if (text == places_[n] && !shared) continue;
      left.push_back(places_[n]);
      right.push_back(shared ? text + ".clone()" : text);
    }
    if (!left.empty()) body += fmt::format("    {} = {}\n", fmt::join(left, ", "), fmt::join(right, ", "));
  }

  // --- messages and collectives
  void transfer(FunctionWriter& writer, const DeviceStep& s, std::string& out) {
    const std::string_view label = m_.row(s.op).name;
    if (s.kind == StepKind::send) {
      writer.lock(s.reads[0]);
      const std::size_t to = program_.peer(m_.type_of(m_.result(s.op)).place.device.value);
      return program_.line(out, 4, "", fmt::format("rank.send({}, to={})", writer.text_of(s.reads[0]), to), "step", label);
    }
    if (s.kind == StepKind::receive) {
      const Type& t = m_.type_of(s.writes[0]);
      const std::size_t from = program_.peer(std::max(0, m_.type_of(p_.now(m_.operand(s.op, 0))).place.device.value));
      const std::string target = writer.targets(s, writer.at())[0];
      return program_.line(out, 4, target, fmt::format("rank.receive({}, {}, source={})", py_tuple(t.shape), py_dtype(t.dtype), from),
                           "step", label);
    }
    collective(writer, s, out);
  }

  void collective(FunctionWriter& writer, const DeviceStep& s, std::string& out) {
    const Placed::Members& members = p_.collectives.at(s.op.value);
    const Attributes& a = m_.attributes(s.op);
    const TorchRow& row = *find_torch_row(m_.op(s.op).kind);
    const std::string group = fmt::format("rank.groups[{}]", program_.group(members.devices));
    const std::string x = s.reads.empty() ? "None" : writer.text_of(s.reads[0]);
    const auto text = [&](std::string_view name) { return py_text(a.text(name)); };
    std::string call;
    switch (row.traffic) {
      case Traffic::all_reduce: {
        const bool in_place = writer.may_overwrite(s, writer.at());
        call = fmt::format("all_reduce({}, op={}{})", x, text("op"), in_place ? ", in_place=True" : "");
        break;
      }
      case Traffic::all_gather: call = fmt::format("all_gather({}, dim={})", x, a.integer("dim")); break;
      case Traffic::reduce_scatter: call = fmt::format("reduce_scatter({}, dim={}, op={})", x, a.integer("dim"), text("op")); break;
      case Traffic::all_to_all:
        call = fmt::format("all_to_all({}, split_dim={}, concat_dim={})", x, a.integer("split_dim"), a.integer("concat_dim"));
        break;
      case Traffic::broadcast:
        call = fmt::format("broadcast({}, root={}, {})", x, members.root, shape_of(members.operands[members.root]));
        break;
      case Traffic::scatter:
        call = fmt::format("scatter({}, root={}, dim={}, {}, parts={})", x, members.root, a.integer("dim"), shape_of(members.results[0]),
                           members.parts);
        break;
      case Traffic::gather:
        call = fmt::format("gather({}, root={}, dim={}, shapes={}, dtype={})", x, members.root, a.integer("dim"), shapes_of(members),
                           py_dtype(m_.type_of(members.operands[0]).dtype));
        break;
      case Traffic::reduce:
        call = fmt::format("reduce({}, root={}, op={}, {}, terms={})", x, members.root, text("op"), shape_of(members.operands[0]),
                           members.parts);
        break;
      default: PANDO_CHECK(false);
    }
    const std::string target = s.writes.empty() ? "" : writer.targets(s, writer.at())[0];
    program_.line(out, 4, target, group + "." + call, "step", m_.row(s.op).name);
  }

  std::string shape_of(ValueId v) const {
    const Type& t = m_.type_of(v);
    return fmt::format("shape={}, dtype={}", py_tuple(t.shape), py_dtype(t.dtype));
  }
  std::string shapes_of(const Placed::Members& members) const {
    std::string out;
    for (ValueId v : members.operands) out += (out.empty() ? "" : ", ") + (v.valid() ? py_tuple(m_.type_of(v).shape) : "None");
    return "[" + out + "]";
  }

  const Placed& p_;
  const Module& m_;
  const DeviceSteps& steps_;
  ProgramWriter program_;
  std::vector<std::string> places_;
};

// By graph, how many blocks of each stream a call of it takes.
class LoadCounter {
 public:
  using Blocks = std::map<std::uint32_t, std::int64_t>;
  explicit LoadCounter(const Module& m) : m_(m) {}

  void add(OpId o, Blocks& to) {
    if (loads_stream(m_, o)) ++to[std::get<HostStreamId>(*m_.attributes(o).find("stream")).value];
    if (m_.op(o).graph_count == 0) return;
    const std::int64_t trips = m_.row(o).control == Control::repeat ? m_.attributes(o).integer("count") : 1;
    for (GraphId g : m_.graphs(o)) {
      for (const auto& [stream, n] : of(g)) to[stream] += n * trips;
    }
  }

 private:
  const Blocks& of(GraphId g) {
    if (const auto it = graphs_.find(g.value); it != graphs_.end()) return it->second;
    Blocks blocks;
    for (OpId o : m_.graph(g).ops) add(o, blocks);
    return graphs_[g.value] = std::move(blocks);
  }

  const Module& m_;
  std::map<std::uint32_t, Blocks> graphs_;
};

}  // namespace

void count_loads(const Module& m, const DeviceSteps& device, ProgramText& text) {
  if (text.loads.empty()) return;
  LoadCounter counter(m);
  LoadCounter::Blocks blocks;
  for (const DeviceStep& s : device.steps) counter.add(s.op, blocks);
  std::map<std::string_view, std::int64_t> by_name;
  for (const auto& [stream, n] : blocks) by_name[m.stream(HostStreamId(stream)).name] += n;
  for (ProgramText::Load& load : text.loads) load.per_step = by_name[load.name];
}

ProgramText write_device(const Placed& placed, std::int32_t device) { return DeviceWriter(placed, device).write(); }

}  // namespace pando::emit
