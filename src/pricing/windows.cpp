#include "pricing/windows.h"

#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "simulate/costs/cost_model.h"
#include "transform/distribute/module_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace pando::pricing {

using namespace ir;

namespace {

// How far around a core ops are looked at.
constexpr int kDepth = 2;
// A stretch of ops is cut at the first op behind `kFewest` whose own text says so, at the latest behind `kMost`.
constexpr std::size_t kFewest = 24, kMost = 80, kOneIn = 16;

using Devices = std::set<std::int32_t>;

void add_devices(const Module& m, TypeId type, Devices& all) {
  const Type& t = m.type(type);
  if (t.is_tensor()) {
    all.insert(t.place.device.known() ? t.place.device.value : 0);
    return;
  }
  for (TypeId e : t.elements) add_devices(m, e, all);
}

Devices devices_of(const Module& m, OpId o) {
  Devices all;
  for (ValueId v : m.operands(o)) add_devices(m, m.value(v).type, all);
  for (ValueId v : m.results(o)) add_devices(m, m.value(v).type, all);
  if (all.empty()) all.insert(0);
  return all;
}

// Takes no time and is part of whatever reads it.
bool is_transparent(const Module& m, OpId o) {
  const OpRow& row = m.row(o);
  return row.tuple != Tuple::none || simulate::is_free_view(row);
}

bool is_data(const Module& m, OpId o) { return m.row(o).constant || simulate::is_there(m, o); }

// Why an op cannot stand in a window; null: it can.
const char* why_not(const Module& m, OpId o) {
  const OpRow& row = m.row(o);
  if (simulate::is_far(row)) return "its data lie off the device";
  if (has(row.effects, Effects::replicas)) return "it meets other replicas";
  if (row.effects != Effects::none) return "it has an effect beside its results";
  if (!crosses_devices(row)) return nullptr;
  for (std::int32_t d : devices_of(m, o)) {
    if (d < 0) return "a call says which devices it crosses";
  }
  return nullptr;
}

// The same for equal ops wherever they stand.
std::uint64_t signature(const Module& m, OpId o) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  const auto add = [&](std::string_view text) {
    for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
  };
  add(simulate::TableCostModel::signature(m, o));
  // What is around it: a layer has many equal ops.
  for (ValueId v : m.operands(o)) {
    if (const OpId p = m.value(v).producer; p.valid()) add(m.row(p).name);
  }
  return h ^ (h >> 29);
}

class CoreWriter {
 public:
  explicit CoreWriter(const Module& m) : m_(m) {}

  void add(OpId o) {
    const bool crosses = crosses_devices(m_.row(o));
    const Devices devices = devices_of(m_, o);
    // What ends here: another kind of stretch on one of the devices.
    std::erase_if(open_, [&](const Open& open) {
      const bool goes_on = open.devices == devices && open.core.crosses == crosses;
      const bool meets = std::any_of(devices.begin(), devices.end(), [&](std::int32_t d) { return open.devices.contains(d); });
      if (goes_on || !meets) return false;
      all_.push_back(open.core);
      return true;
    });
    auto it = std::find_if(open_.begin(), open_.end(), [&](const Open& x) { return x.devices == devices && x.core.crosses == crosses; });
    if (it == open_.end()) it = open_.insert(it, {devices, {{}, crosses}});
    it->core.ops.push_back(o);
    const std::size_t n = it->core.ops.size();
    if (n >= kMost || (n >= kFewest && signature(m_, o) % kOneIn == 0)) end(it);
  }
  void end_all() {
    while (!open_.empty()) end(open_.begin());
  }
  std::vector<Core> take() {
    end_all();
    return std::move(all_);
  }

 private:
  struct Open {
    Devices devices;
    Core core;
  };
  void end(std::vector<Open>::iterator it) {
    all_.push_back(std::move(it->core));
    open_.erase(it);
  }
  const Module& m_;
  std::vector<Open> open_;
  std::vector<Core> all_;
};

}  // namespace

Cores cores_of(const Module& m, GraphId graph) {
  Cores out;
  CoreWriter writer(m);
  for (OpId o : m.graph(graph).ops) {
    if (m.op(o).erased || is_transparent(m, o)) continue;
    if (m.row(o).graphs != -1) {
      writer.end_all();
      continue;
    }
    if (const char* why = why_not(m, o)) {
      out.left_out.emplace_back(o, why);
      continue;
    }
    writer.add(o);
  }
  out.cores = writer.take();
  return out;
}

// --- windows -----------------------------------------------------------------------------------------------------------------------------

WindowCutter::WindowCutter(const Module& module, GraphId graph)
    : m_(module), graph_(graph), position_(module.op_count()), readers_(module.value_count()), is_output_(module.value_count()) {
  std::uint32_t position = 0;
  for (OpId o : m_.graph(graph).ops) {
    if (m_.op(o).erased) continue;
    position_[o.index()] = ++position;
    for (ValueId v : m_.operands(o)) {
      if (readers_[v.index()].empty() || readers_[v.index()].back() != o) readers_[v.index()].push_back(o);
    }
  }
  for (ValueId v : m_.graph(graph).outputs) is_output_[v.index()] = true;
  for (ValueId v : m_.graph(graph).updated_inputs) is_output_[v.index()] = true;
}

namespace {

bool may_stand_by(const Module& m, OpId o, const Devices& devices) {
  if (m.row(o).graphs != -1 || crosses_devices(m.row(o)) || why_not(m, o) != nullptr) return false;
  const Devices own = devices_of(m, o);
  return std::includes(devices.begin(), devices.end(), own.begin(), own.end());
}

// The type where devices have other numbers.
TypeId moved(const Module& from, TypeId type, Module& to, const std::map<std::int32_t, std::int32_t>& numbers) {
  return transform::copy_type(from, type, to, [&](Device d) { return Device::numbered(numbers.at(d.known() ? d.value : 0)); });
}

// Transfers also name devices beside their operands.
void renumber(Module& to, OpId op, const std::map<std::int32_t, std::int32_t>& numbers) {
  const auto number = [&](std::int64_t device) { return std::int64_t{numbers.at(static_cast<std::int32_t>(device))}; };
  Attributes attributes = to.attributes(op);
  if (const AttributeValue* device = attributes.find("device")) attributes.set("device", number(std::get<std::int64_t>(*device)));
  if (attributes.has("devices")) {
    Ints devices = attributes.ints("devices");
    for (std::int64_t& d : devices) d = number(d);
    attributes.set("devices", std::move(devices));
  }
  to.set_attributes(op, attributes);
}

// Pairs of IPUs stay pairs.
std::map<std::int32_t, std::int32_t> numbers_of(const std::set<std::int32_t>& devices) {
  std::map<std::int32_t, std::int32_t> numbers;
  const std::int32_t base = devices.size() == 1 ? *devices.begin() : *devices.begin() & ~1;
  for (std::int32_t d : devices) numbers[d] = d - base;
  return numbers;
}

}  // namespace

WindowCutter::Chosen WindowCutter::choose(const Core& core) const {
  Chosen chosen;
  for (OpId o : core.ops) chosen.ops[position_[o.index()]] = {o, true};
  for (OpId o : core.ops) chosen.devices.merge(devices_of(m_, o));
  // What makes operands, and what reads results.
  std::vector<std::pair<OpId, int>> producers, readers;
  const auto look_back = [&](OpId o, int depth) {
    for (ValueId v : m_.operands(o)) {
      const OpId p = m_.value(v).producer;
      if (!p.valid() || (depth == 0 && !is_transparent(m_, p) && !is_data(m_, p))) continue;
      if (add(chosen, p)) producers.emplace_back(p, is_transparent(m_, p) ? depth : depth - 1);
    }
  };
  const auto look_on = [&](OpId o, int depth) {
    for (ValueId v : m_.results(o)) {
      for (OpId r : readers_[v.index()]) {
        if (depth == 0 && !is_transparent(m_, r)) continue;
        if (add(chosen, r)) readers.emplace_back(r, is_transparent(m_, r) ? depth : depth - 1);
      }
    }
  };
  for (OpId o : core.ops) look_back(o, kDepth), look_on(o, kDepth);
  for (std::size_t i = 0; i < producers.size(); ++i) look_back(producers[i].first, producers[i].second);
  for (std::size_t i = 0; i < readers.size(); ++i) look_on(readers[i].first, readers[i].second);
  add_deciders(chosen);
  add_data(chosen);
  return chosen;
}

bool WindowCutter::add(Chosen& chosen, OpId o) const {
  const std::uint32_t at = position_[o.index()];
  if (chosen.ops.contains(at) || !may_stand_by(m_, o, chosen.devices)) return false;
  // Variables are tensors: of a tuple that is made elsewhere, the element is what comes in.
  if (m_.row(o).tuple == Tuple::element && !is_made(chosen, m_.operand(o, 0))) {
    const OpId tuple = m_.value(m_.operand(o, 0)).producer;
    if (!tuple.valid() || m_.row(tuple).tuple == Tuple::none || !add(chosen, tuple)) return false;
  }
  chosen.ops[at] = {o, false};
  return true;
}

bool WindowCutter::is_made(const Chosen& chosen, ValueId v) const {
  const OpId p = m_.value(v).producer;
  return p.valid() && chosen.ops.contains(position_[p.index()]);
}

// Who decides how inputs lie.
void WindowCutter::add_deciders(Chosen& chosen) const {
  std::vector<OpId> deciders;
  for (const auto& [at, op] : chosen.ops) {
    for (ValueId v : m_.operands(op.first)) {
      if (is_made(chosen, v)) continue;
      const auto& all = readers_[v.index()];
      const auto product = std::find_if(all.begin(), all.end(), [&](OpId r) { return m_.row(r).on_matrix_units; });
      if (product != all.end()) deciders.push_back(*product);
    }
  }
  for (OpId o : deciders) add(chosen, o);
}

// What all these read without work.
void WindowCutter::add_data(Chosen& chosen) const {
  std::vector<OpId> all;
  for (const auto& [at, op] : chosen.ops) all.push_back(op.first);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (ValueId v : m_.operands(all[i])) {
      const OpId p = m_.value(v).producer;
      if (p.valid() && (is_transparent(m_, p) || is_data(m_, p)) && add(chosen, p)) all.push_back(p);
    }
  }
}

// Every input is a variable; a tuple is made of some.
std::map<ValueId, ValueId> WindowCutter::write_inputs(const Chosen& chosen, const Numbers& numbers, Module& to) const {
  std::map<ValueId, ValueId> inputs;
  std::vector<std::pair<ValueId, std::vector<ValueId>>> tuples;
  const auto add_variable = [&](TypeId type) {
    State state;
    state.input = static_cast<std::uint32_t>(to.graph(to.main_graph()).inputs.size());
    state.name = fmt::format("i{}", *state.input);
    state.type = moved(m_, type, to, numbers);
    const ValueId v = to.add_input(to.main_graph(), Type(to.type(state.type)), state.name);
    to.add_state(std::move(state));
    return v;
  };
  for (const auto& [at, op] : chosen.ops) {
    for (ValueId v : m_.operands(op.first)) {
      if (is_made(chosen, v) || inputs.contains(v)) continue;
      if (m_.type_of(v).is_tensor()) {
        inputs[v] = add_variable(m_.value(v).type);
        continue;
      }
      std::vector<ValueId> elements;
      for (TypeId e : m_.type_of(v).elements) elements.push_back(add_variable(e));
      inputs[v] = ValueId();
      tuples.emplace_back(v, std::move(elements));
    }
  }
  for (const auto& [v, elements] : tuples) {
    const OpId made = infer_and_add(to, to.main_graph(), "make_tuple", elements, {});
    const NameId name = to.name(fmt::format("t{}", made.index()));
    to.op(made).name = name;
    inputs[v] = to.result(made);
    to.set_name(inputs[v], name);
  }
  return inputs;
}

std::map<ValueId, ValueId> WindowCutter::write_ops(const Chosen& chosen, const Numbers& numbers, std::map<ValueId, ValueId> values,
                                                   Window& w) const {
  Module& to = w.module;
  std::size_t around = 0;
  for (const auto& [at, op] : chosen.ops) {
    const auto [o, in_core] = op;
    std::vector<ValueId> operands;
    for (ValueId v : m_.operands(o)) operands.push_back(values.at(v));
    std::vector<TypeId> types;
    for (ValueId v : m_.results(o)) types.push_back(moved(m_, m_.value(v).type, to, numbers));
    const OpId copy = transform::copy_op(m_, o, to, to.main_graph(), operands, {}, types);
    to.op(copy).location = LocationId();
    if (crosses_devices(to.row(copy))) renumber(to, copy, numbers);
    const std::string name = in_core                 ? fmt::format("o{}", w.ops.size())
                             : is_transparent(m_, o) ? fmt::format("x{}", around++)
                                                     : fmt::format("h{}", around++);
    if (in_core) w.ops.push_back(o);
    to.op(copy).name = to.name(name);
    for (std::size_t i = 0; i < types.size(); ++i) {
      to.set_name(to.result(copy, i), to.name(i == 0 ? name : fmt::format("{}r{}", name, i)));
      values[m_.result(o, i)] = to.result(copy, i);
    }
  }
  return values;
}

// What inputs have become, and what others read.
void WindowCutter::write_ends(const Chosen& chosen, const std::map<ValueId, ValueId>& inputs, const std::map<ValueId, ValueId>& values,
                              Module& to) const {
  const Graph& g = m_.graph(graph_);
  std::set<ValueId> kept;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const auto input = inputs.find(g.inputs[i]);
    if (input == inputs.end() || g.updated_inputs[i] == g.inputs[i] || !is_made(chosen, g.updated_inputs[i])) continue;
    to.graph(to.main_graph()).updated_inputs[to.value(input->second).index] = values.at(g.updated_inputs[i]);
    kept.insert(g.updated_inputs[i]);
  }
  for (const auto& [at, op] : chosen.ops) {
    for (ValueId v : m_.results(op.first)) {
      const auto& all = readers_[v.index()];
      const bool outside =
          is_output_[v.index()] || std::any_of(all.begin(), all.end(), [&](OpId r) { return !chosen.ops.contains(position_[r.index()]); });
      if (outside && !kept.contains(v)) to.add_output(to.main_graph(), values.at(v));
    }
  }
}

Window WindowCutter::cut(const Core& core) const {
  const Chosen chosen = choose(core);
  const Numbers numbers = numbers_of(chosen.devices);
  Window w;
  w.crosses = core.crosses;
  w.devices = numbers.rbegin()->second + 1;
  transform::copy_tables(m_, w.module);
  w.module.set_replicas(1);
  w.module.add_graph("main");
  const std::map<ValueId, ValueId> inputs = write_inputs(chosen, numbers, w.module);
  const std::map<ValueId, ValueId> values = write_ops(chosen, numbers, inputs, w);
  write_ends(chosen, inputs, values, w.module);
  return w;
}

std::int32_t op_of_step(std::string_view name) {
  if (name.size() < 2) return kUnknown;
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc()) return kUnknown;
  if (const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
      !rest.empty() && rest[0] != '/' && rest[0] != '_' && rest[0] != 'r' && rest[0] != ',' && rest[0] != '+')
    return kUnknown;
  return name[0] == 'o' ? number : name[0] == 'h' ? kHalo : kUnknown;
}

}  // namespace pando::pricing
