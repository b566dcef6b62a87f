#include "transform/devices/unroll_pmap.h"

#include "ir/checks/verify_distribution.h"
#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/op_table.h"
#include "transform/distribute/module_copy.h"

#include <fmt/format.h>

#include <map>

namespace pando::transform {

namespace {

using namespace ir;

// The device that each variable stands for.
using Binding = std::map<std::int32_t, Place>;

class Unroller {
 public:
  explicit Unroller(const Module& from) : from_(from), tuple_(op_kind("make_tuple")), element_(op_kind("get_element")) {
    copy_tables(from_, to_);
  }

  Module run() {
    graph_for(from_.main_graph(), {});
    // What stands beside the main graph and is not a pmap's body.
    for (std::size_t g = 1; g < from_.graph_count(); ++g) {
      if (!uses_variables(GraphId(static_cast<std::uint32_t>(g)))) graph_for(GraphId(static_cast<std::uint32_t>(g)), {});
    }
    copy_states(from_, to_);
    return std::move(to_);
  }

 private:
  struct Frame {
    GraphId graph;
    const Binding& binding;
    std::map<ValueId, ValueId> values;
    std::map<OpId, OpId> ops;
  };

  bool uses_variables(GraphId g) const {
    for (ValueId v : from_.graph(g).inputs) {
      if (from_.type_of(v).place.device.is_variable()) return true;
    }
    return false;
  }

  TypeId type(TypeId old, const Binding& binding) {
    Type t = from_.type(old);
    if (!t.is_tensor()) {
      for (TypeId& e : t.elements) e = type(e, binding);
      return to_.type(t);
    }
    if (!t.place.device.is_variable()) return to_.type(t);
    const auto it = binding.find(t.place.device.variable_number());
    if (it != binding.end()) {
      const Memory memory = t.place.memory;
      const TileSet tiles = t.place.tiles == TileSet::undefined ? it->second.tiles : t.place.tiles;
      t.place = {it->second.device, tiles, memory};
    }
    return to_.type(t);
  }

  GraphId graph_for(GraphId old, const Binding& binding) {
    std::vector<std::pair<std::int32_t, std::int32_t>> key;
    if (uses_variables(old)) {
      for (const auto& [variable, place] : binding) key.emplace_back(variable, place.device.value);
    }
    if (const auto it = made_.find({old, key}); it != made_.end()) return it->second;
    const Graph& g = from_.graph(old);
    std::string name = g.name;
    for (const auto& [variable, device] : key) name += fmt::format("_d{}", device);
    const GraphId graph = to_.add_graph(name);
    made_[{old, key}] = graph;
    Frame f{graph, binding, {}, {}};
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      const TypeId t = type(from_.value(g.inputs[i]).type, binding);
      f.values[g.inputs[i]] = to_.add_input(graph, to_.type(t), from_.name_of(g.inputs[i]), g.by_ref[i]);
    }
    body(old, f);
    for (ValueId v : g.outputs) to_.add_output(graph, f.values.at(v));
    for (std::size_t i = 0; i < g.updated_inputs.size(); ++i) to_.graph(graph).updated_inputs[i] = f.values.at(g.updated_inputs[i]);
    for (const auto& [first, then] : g.after) {
      const auto a = f.ops.find(first), b = f.ops.find(then);
      if (a != f.ops.end() && b != f.ops.end()) to_.graph(graph).after.emplace_back(a->second, b->second);
    }
    to_.graph(graph).note = g.note;
    return graph;
  }

  void body(GraphId old, Frame& f) {
    for (OpId o : from_.graph(old).ops) {
      if (from_.row(o).control == Control::map) {
        pmap(o, f);
      } else {
        copy(o, f);
      }
    }
  }

  void copy(OpId o, Frame& f) {
    std::vector<ValueId> operands;
    std::vector<GraphId> graphs;
    std::vector<TypeId> types;
    for (ValueId v : from_.operands(o)) operands.push_back(f.values.at(v));
    for (GraphId g : from_.graphs(o)) graphs.push_back(graph_for(g, f.binding));
    for (ValueId v : from_.results(o)) types.push_back(type(from_.value(v).type, f.binding));
    const OpId made = copy_op(from_, o, to_, f.graph, operands, graphs, types);
    f.ops[o] = made;
    for (std::size_t i = 0; i < types.size(); ++i) f.values[from_.result(o, i)] = to_.result(made, i);
  }

  ValueId one(Frame& f, OpKind op, std::span<const ValueId> operands, const Attributes& attributes, TypeId type, std::string_view name) {
    return to_.result(to_.add_op(f.graph, op, operands, attributes, {}, {&type, 1}, name));
  }

  void pmap(OpId o, Frame& f) {
    const GraphId body_graph = from_.graphs(o)[0];
    const Graph& b = from_.graph(body_graph);
    const auto variable = static_cast<std::int32_t>(from_.attributes(o).integer("device_var"));
    const Type first = to_.type(to_.value(f.values.at(from_.operand(o, 0))).type);
    std::vector<std::vector<ValueId>> outputs(b.outputs.size());
    for (std::size_t k = 0; k < first.elements.size(); ++k) {
      Binding binding = f.binding;
      binding[variable] = to_.type(first.elements[k]).place;
      Frame inner{f.graph, binding, {}, {}};
      for (std::size_t i = 0; i < b.inputs.size(); ++i) {
        const ValueId tuple = f.values.at(from_.operand(o, i));
        const TypeId t = to_.type_of(tuple).elements[k];
        inner.values[b.inputs[i]] = one(f, element_, {{tuple}}, {{"index", static_cast<std::int64_t>(k)}}, t, from_.name_of(b.inputs[i]));
      }
      body(body_graph, inner);
      for (std::size_t i = 0; i < b.outputs.size(); ++i) outputs[i].push_back(inner.values.at(b.outputs[i]));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Type t;
      t.kind = Type::Kind::tuple;
      for (ValueId v : outputs[i]) t.elements.push_back(to_.value(v).type);
      const ValueId result = from_.result(o, i);
      f.values[result] = one(f, tuple_, outputs[i], {}, to_.type(t), from_.name_of(result));
    }
  }

  const Module& from_;
  Module to_;
  OpKind tuple_, element_;
  std::map<std::pair<GraphId, std::vector<std::pair<std::int32_t, std::int32_t>>>, GraphId> made_;
};

void reject_violations(const std::vector<Violation>& found) {
  if (!found.empty()) reject(ErrorClass::popart, found[0].rule, "{}", to_string(found));
}

}  // namespace

Module unroll_pmap(const Module& module) {
  check(module);
  reject_violations(verify_distribution(module));
  Module out = Unroller(module).run();
  check(out);
  reject_violations(verify_distribution(out));
  return out;
}

}  // namespace pando::transform
