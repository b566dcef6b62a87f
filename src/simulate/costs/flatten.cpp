#include "simulate/costs/flatten.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "simulate/memory_kinds.h"

#include <algorithm>

namespace pando::simulate {

namespace {

// Costs of ops that were seen, by kind, attributes and operand types.
class KnownCosts {
 public:
  // Where the cost of this key is kept; `added` if it has to be found first.
  double& at(std::span<const std::uint32_t> key, bool& added) {
    if (2 * used_ >= table_.size()) grow();
    for (std::size_t i = hash(key);; ++i) {
      Entry& e = table_[i & (table_.size() - 1)];
      if (e.length == 0) {
        e = {static_cast<std::uint32_t>(keys_.size()), static_cast<std::uint32_t>(key.size()), 0};
        keys_.insert(keys_.end(), key.begin(), key.end());
        ++used_;
        added = true;
        return e.seconds;
      }
      if (e.length == key.size() && std::equal(key.begin(), key.end(), keys_.begin() + e.begin)) {
        added = false;
        return e.seconds;
      }
    }
  }

 private:
  struct Entry {
    std::uint32_t begin = 0, length = 0;
    double seconds = 0;
  };
  static std::size_t hash(std::span<const std::uint32_t> key) {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL;
    for (std::uint32_t k : key) h = (h ^ k) * 0xff51afd7ed558ccdULL, h ^= h >> 29;
    return h;
  }
  void grow() {
    std::vector<Entry> old(std::max<std::size_t>(64, 2 * table_.size()));
    old.swap(table_);
    for (const Entry& e : old) {
      if (e.length == 0) continue;
      std::size_t i = hash({keys_.data() + e.begin, e.length});
      while (table_[i & (table_.size() - 1)].length != 0) ++i;
      table_[i & (table_.size() - 1)] = e;
    }
  }
  std::vector<Entry> table_ = std::vector<Entry>(64);
  std::vector<std::uint32_t> keys_;
  std::size_t used_ = 0;
};

class Flattener {
 public:
  Flattener(const ir::Module& module, const CostModel& costs)
      : m_(module),
        costs_(costs),
        here_(costs.of_module(module)),
        kinds_(module),
        refs_(module.value_count()),
        body_of_(module.graph_count(), kNone) {
    type_slots_.resize(module.types().size());
  }

  Program run() {
    body(m_.main_graph());
    for (const BodyDevice& d : program_.bodies[0].devices) {
      if (d.is_variable) ir::reject(ir::ErrorClass::value, "device-variable", "values lie on d{}, which no pmap binds", d.number);
    }
    return std::move(program_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Ref {
    std::uint32_t begin = 0, count = 0;
  };
  // One tensor of a type: what a slot needs to know.
  struct Part {
    std::int64_t bytes = 0;
    BodyDevice device;
  };

  const std::vector<Part>& parts_of(ir::TypeId type) {
    if (type.index() >= type_slots_.size()) type_slots_.resize(m_.types().size());
    std::vector<Part>& parts = type_slots_[type.index()];
    if (parts.empty()) add_parts(type, parts);
    return parts;
  }
  void add_parts(ir::TypeId type, std::vector<Part>& parts) {
    const ir::Type& t = m_.type(type);
    if (!t.is_tensor()) {
      for (ir::TypeId e : t.elements) add_parts(e, parts);
      return;
    }
    const ir::Device d = t.place.device;
    // What lies in another memory takes none of the device's.
    const std::int64_t bytes =
        t.place.memory == ir::Memory::tile ? ir::elements_of(t.shape) * static_cast<std::int64_t>(ir::size_of(t.dtype)) : 0;
    parts.push_back({bytes, d.is_variable() ? BodyDevice{d.variable_number(), true} : BodyDevice{d.known() ? d.value : 0, false}});
  }

  std::uint32_t body(ir::GraphId g) {
    if (body_of_[g.index()] != kNone) return body_of_[g.index()];
    const auto index = static_cast<std::uint32_t>(program_.bodies.size());
    body_of_[g.index()] = index;
    program_.bodies.emplace_back();
    // Bodies that this one calls are added to the list while it is written.
    Body b;
    b.name = m_.graph(g).name;
    kinds_.enter(g);
    BodyWriter writer(b);
    for (ir::ValueId v : m_.graph(g).inputs) {
      begin_ref(v);
      for (const Part& p : parts_of(m_.value(v).type)) push(writer.input(p.bytes, b.device(p.device), kinds_.of(v)));
      end_ref(v);
    }
    b.steps.reserve(m_.graph(g).ops.size());
    b.slots.reserve(m_.graph(g).ops.size() * 5 / 4);
    for (ir::OpId o : m_.graph(g).ops) {
      if (!m_.op(o).erased) add(g, b, o);
    }
    finish(g, b);
    program_.bodies[index] = std::move(b);
    return index;
  }

  void finish(ir::GraphId g, Body& b) {
    BodyWriter writer(b);
    const bool main = g == m_.main_graph();
    if (!main || costs_.keeps_outputs()) {
      std::int32_t position = 0;
      for (ir::ValueId v : m_.graph(g).outputs) {
        for (SlotId s : slots(v)) writer.output(s, position < static_cast<std::int32_t>(b.inputs.size()) ? position : -1), ++position;
      }
    }
    if (!costs_.views_are_free()) {
      for (Slot& s : b.slots) s.kept |= s.uses == 0;
    }
  }

  void add(ir::GraphId g, Body& b, ir::OpId o) {
    const ir::OpRow& row = m_.row(o);
    const ir::OpKind kind = m_.op(o).kind;
    if (row.graphs > 0) return add_call(g, b, o, row);
    if (kind.index() >= kind_facts_.size()) kind_facts_.resize(kind.index() + 1);
    KindFacts& facts = kind_facts_[kind.index()];
    if (!facts.known) facts = facts_of(o, row);
    if (facts.tuple) return add_tuple(o, row);
    if (costs_.views_are_free() && is_free_view(row)) {
      const Ref r = refs_[m_.operand(o, 0).index()];
      for (ir::ValueId v : m_.results(o)) refs_[v.index()] = r;
      return;
    }
    operands_.clear();
    key_.assign({kind.value, m_.op(o).attributes.value, m_.op(o).in_place});
    for (ir::ValueId v : m_.operands(o)) {
      const auto s = slots(v);
      operands_.insert(operands_.end(), s.begin(), s.end());
      key_.push_back(m_.value(v).type.value);
    }
    results_.clear();
    const bool in_place = (facts.modifies || m_.op(o).in_place) && (costs_.views_are_free() || facts.optimizer) && take_versions(b, o);
    if (!in_place) {
      BodyWriter writer(b);
      for (ir::ValueId v : m_.results(o)) {
        begin_ref(v);
        for (const Part& p : parts_of(m_.value(v).type)) {
          const SlotId s = writer.slot(p.bytes, b.device(p.device), kinds_.of(v));
          results_.push_back(s);
          push(s);
        }
        end_ref(v);
      }
    }
    const double seconds = seconds_of(o);
    BodyWriter writer(b);
    Step& s = writer.step(facts.transfer ? StepKind::transfer : StepKind::compute, facts.label, seconds, operands_, results_);
    s.in_place = in_place;
    if (facts.transfer) finish_transfer(b, s);
  }

  double seconds_of(ir::OpId o) {
    if (here_) return here_->seconds(o);
    bool added = false;
    double& known = costs_known_.at(key_, added);
    if (added) known = costs_.seconds(m_, o);
    return known;
  }

  // Results that are new versions of operands lie where those lie. Whether all are.
  bool take_versions(Body& b, ir::OpId o) {
    const std::vector<ir::NewVersion> versions = ir::new_versions(m_, o);
    if (versions.size() != m_.results(o).size()) return false;
    for (const ir::NewVersion& v : versions) {
      const ir::ValueId result = m_.result(o, v.result);
      refs_[result.index()] = refs_[m_.operand(o, v.operand).index()];
      for (SlotId s : slots(result)) {
        b.slots[s].modified = b.slots[s].given;
        results_.push_back(s);
      }
    }
    return true;
  }

  void finish_transfer(const Body& b, Step& s) {
    const Cluster* c = costs_.cluster();
    if (c == nullptr || c->levels.empty()) return;
    std::int32_t first = 1 << 30, last = 0;
    bool variable = false;
    for (std::uint32_t d : b.devices_of(s)) {
      variable |= b.devices[d].is_variable;
      first = std::min(first, b.devices[d].number);
      last = std::max(last, b.devices[d].number);
    }
    s.level = static_cast<std::uint8_t>(variable ? c->levels.size() - 1 : c->level_of(first, last));
  }

  struct KindFacts {
    bool known = false, tuple = false, transfer = false, modifies = false, optimizer = false;
    std::uint32_t label = 0;
  };
  KindFacts facts_of(ir::OpId o, const ir::OpRow& row) {
    KindFacts f;
    f.known = true;
    f.tuple = row.tuple != ir::Tuple::none;
    f.transfer = ir::crosses_devices(row);
    f.modifies = row.modifies[0].operand >= 0 || row.modifies_more != nullptr;
    f.optimizer = row.bundles;
    f.label = program_.label(costs_.label(m_, o));
    return f;
  }

  void add_tuple(ir::OpId o, const ir::OpRow& row) {
    const ir::ValueId result = m_.result(o);
    if (row.tuple == ir::Tuple::element) {
      const ir::ValueId tuple = m_.operand(o, 0);
      const auto& elements = m_.type_of(tuple).elements;
      const auto index = static_cast<std::size_t>(m_.attributes(o).integer("index"));
      Ref r = refs_[tuple.index()];
      for (std::size_t i = 0; i < index; ++i) r.begin += static_cast<std::uint32_t>(parts_of(elements[i]).size());
      r.count = static_cast<std::uint32_t>(parts_of(elements[index]).size());
      refs_[result.index()] = r;
      return;
    }
    begin_ref(result);
    for (ir::ValueId v : m_.operands(o)) {
      const Ref r = refs_[v.index()];
      for (std::uint32_t i = 0; i < r.count; ++i) push(pool_[r.begin + i]);
    }
    end_ref(result);
  }

  // --- graphs in graphs -----------------------------------------------------------------------------------------------------------------

  void add_call(ir::GraphId g, Body& b, ir::OpId o, const ir::OpRow& row) {
    if (row.control == ir::Control::branch || row.control == ir::Control::none) {
      ir::reject(ir::ErrorClass::popart, "not-simulated",
                 "{}: which of its graphs runs is known when the program runs; it cannot be simulated", row.name);
    }
    const ir::GraphId callee = m_.graphs(o)[0];
    const std::vector<std::int64_t> modified = modified_inputs(o);
    kinds_.pass_to(callee, m_.operands(o));
    const std::uint32_t index = body(callee);
    kinds_.enter(g);
    add_finals(callee, index, modified);
    if (row.control == ir::Control::map) return add_pmap(b, o, index);
    operands_.clear();
    for (ir::ValueId v : m_.operands(o)) {
      const auto s = slots(v);
      operands_.insert(operands_.end(), s.begin(), s.end());
    }
    std::vector<std::uint32_t> devices;
    for (const BodyDevice& d : program_.bodies[index].devices) devices.push_back(b.device(d));
    BodyWriter writer(b);
    std::vector<SlotId> results;
    const std::size_t outputs = m_.graph(callee).outputs.size();
    for (std::size_t i = 0; i < m_.results(o).size(); ++i) {
      const ir::ValueId v = m_.result(o, i);
      if (i >= outputs) {  // the operand's new contents
        refs_[v.index()] = refs_[m_.operand(o, static_cast<std::size_t>(modified[i - outputs])).index()];
        for (SlotId s : slots(v)) {
          b.slots[s].modified = b.slots[s].given;
          results.push_back(s);
        }
        continue;
      }
      begin_ref(v);
      for (const Part& p : parts_of(m_.value(v).type)) {
        results.push_back(writer.slot(p.bytes, b.device(p.device), kinds_.of(v)));
        push(results.back());
      }
      end_ref(v);
    }
    const std::int64_t trips = row.control == ir::Control::repeat ? m_.attributes(o).integer("count") : 1;
    writer.call(index, program_.label(program_.bodies[index].name), trips, operands_, results, devices);
  }

  std::vector<std::int64_t> modified_inputs(ir::OpId o) const {
    return m_.attributes(o).has("modified") ? m_.attributes(o).ints("modified") : ir::Ints{};
  }

  // What modified inputs have become, behind a body's outputs.
  void add_finals(ir::GraphId callee, std::uint32_t index, const std::vector<std::int64_t>& modified) {
    Body& b = program_.bodies[index];
    if (b.outputs.size() > b.own_outputs) return;
    for (std::int64_t i : modified) {
      std::int32_t position = 0;
      for (std::int64_t k = 0; k < i; ++k) {
        position += static_cast<std::int32_t>(parts_of(m_.value(m_.graph(callee).inputs[static_cast<std::size_t>(k)]).type).size());
      }
      for (SlotId s : slots(m_.graph(callee).updated_inputs[static_cast<std::size_t>(i)])) {
        b.outputs.push_back(s);
        b.carried.push_back(position >= static_cast<std::int32_t>(b.own_outputs) ? position : -1);
        b.slots[s].kept = true;
        ++position;
      }
    }
  }

  // One call for each element, with the device variable bound to its device.
  void add_pmap(Body& b, ir::OpId o, std::uint32_t index) {
    const ir::Type& first = m_.type_of(m_.operand(o, 0));
    const auto variable = static_cast<std::int32_t>(m_.attributes(o).integer("device_var"));
    const std::size_t count = first.elements.size(), outputs = program_.bodies[index].own_outputs;
    // Results lie tuple by tuple, element by element: [output][element].
    std::vector<SlotId> made(count * outputs);
    for (std::size_t e = 0; e < count; ++e) {
      const ir::Device d = m_.type(first.elements[e]).place.device;
      const BodyDevice here = d.is_variable() ? BodyDevice{d.variable_number(), true} : BodyDevice{d.known() ? d.value : 0, false};
      operands_.clear();
      for (ir::ValueId v : m_.operands(o)) operands_.push_back(pool_[refs_[v.index()].begin + e]);
      std::vector<std::uint32_t> devices;
      for (const BodyDevice& inner : program_.bodies[index].devices) {
        devices.push_back(b.device(inner == BodyDevice{variable, true} ? here : inner));
      }
      BodyWriter writer(b);
      std::vector<SlotId> results;
      for (std::size_t i = 0; i < outputs; ++i) {
        const Slot& inside = program_.bodies[index].slots[program_.bodies[index].outputs[i]];
        const SlotId s = writer.slot(inside.bytes, devices[inside.device], inside.kind);
        results.push_back(s);
        made[i * count + e] = s;
      }
      writer.call(index, program_.label(program_.bodies[index].name), 1, operands_, results, devices);
    }
    for (std::size_t i = 0; i < outputs; ++i) {
      begin_ref(m_.result(o, i));
      for (std::size_t e = 0; e < count; ++e) push(made[i * count + e]);
      end_ref(m_.result(o, i));
    }
  }

  std::span<const SlotId> slots(ir::ValueId v) const { return {pool_.data() + refs_[v.index()].begin, refs_[v.index()].count}; }
  void begin_ref(ir::ValueId v) { refs_[v.index()].begin = static_cast<std::uint32_t>(pool_.size()); }
  void push(SlotId s) { pool_.push_back(s); }
  void end_ref(ir::ValueId v) { refs_[v.index()].count = static_cast<std::uint32_t>(pool_.size()) - refs_[v.index()].begin; }

  const ir::Module& m_;
  const CostModel& costs_;
  const std::unique_ptr<ModuleCosts> here_;
  MemoryKinds kinds_;
  Program program_;
  std::vector<Ref> refs_;
  std::vector<SlotId> pool_;
  std::vector<std::uint32_t> body_of_;
  std::vector<std::vector<Part>> type_slots_;
  std::vector<KindFacts> kind_facts_;
  KnownCosts costs_known_;
  std::vector<SlotId> operands_, results_;
  std::vector<std::uint32_t> key_;
};

}  // namespace

Program flatten(const ir::Module& module, const CostModel& costs) { return Flattener(module, costs).run(); }

}  // namespace pando::simulate
