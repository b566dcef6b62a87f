#include "ir/checks/verify.h"

#include "base/source_location.h"
#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "ir/text/print.h"
#include "ir/types/hash.h"
#include "poplar/exceptions.hpp"

#include <algorithm>
#include <unordered_map>

namespace pando::ir {

namespace {

bool places_agree(const Place& a, const Place& b) {
  if (a.device.known() && b.device.known() && a.device != b.device) return false;
  return a.tiles == TileSet::undefined || b.tiles == TileSet::undefined || a.tiles == b.tiles;
}

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module), defined_(module.value_count(), false), position_(module.op_count()) {}

  std::vector<Violation> run() {
    if (module_.graph_count() == 0) {
      found_.push_back({"output-defined", "module", "there is no main graph"});
      return std::move(found_);
    }
    for (std::size_t g = 0; g < module_.graph_count(); ++g) graph(GraphId(static_cast<std::uint32_t>(g)));
    cycles();
    states();
    return std::move(found_);
  }

 private:
  void add(std::string rule, OpId op, std::string message) {
    found_.push_back(
        {std::move(rule), print_op(module_, op, {.elide_data = true}), std::move(message), module_.location_text(op), op, {}, {}});
  }
  void add(std::string rule, GraphId graph, std::string message) {
    found_.push_back({std::move(rule), "graph " + module_.graph(graph).name, std::move(message), {}, {}, graph, {}});
  }
  void add(std::string rule, StateId state, std::string message) {
    found_.push_back({std::move(rule), "variable " + module_.state(state).name, std::move(message), {}, {}, {}, state});
  }

  void graph(GraphId id) {
    const Graph& g = module_.graph(id);
    for (ValueId v : g.inputs) defined_[v.index()] = true;
    std::uint32_t next = 1;
    for (OpId o : g.ops) {
      position_[o] = next++;
      op(id, o);
      for (ValueId v : module_.results(o)) defined_[v.index()] = true;
    }
    for (ValueId v : g.outputs) {
      if (!known(id, v)) add("output-defined", id, fmt::format("output '{}' is not a value of this graph", name_of(v)));
    }
    if (g.updated_inputs.size() != g.inputs.size())
      add("output-defined", id, fmt::format("{} updated_inputs for {} inputs", g.updated_inputs.size(), g.inputs.size()));
    for (std::size_t i = 0; i < std::min(g.updated_inputs.size(), g.inputs.size()); ++i) final(id, i);
    for (const auto& [first, then] : g.after) edge(id, first, then);
  }

  bool known(GraphId graph, ValueId v) const {
    return v.index() < defined_.size() && defined_[v.index()] && module_.value(v).graph == graph;
  }
  std::string name_of(ValueId v) const { return v.index() < module_.value_count() ? module_.name_of(v) : "?"; }

  void final(GraphId id, std::size_t i) {
    const Graph& g = module_.graph(id);
    const ValueId v = g.updated_inputs[i];
    if (!known(id, v)) {
      add("output-defined", id, fmt::format("the final of '{}' is not a value of this graph", name_of(g.inputs[i])));
      return;
    }
    const Type &a = module_.type_of(v), &b = module_.type_of(g.inputs[i]);
    if (a.dtype != b.dtype || a.shape != b.shape) {
      add("output-defined", id,
          fmt::format("the final of '{}' is {}, the input {}", name_of(g.inputs[i]), module_.types().to_string(a),
                      module_.types().to_string(b)));
    }
  }

  void edge(GraphId id, OpId first, OpId then) {
    const auto in_graph = [&](OpId o) { return o.index() < module_.op_count() && module_.op(o).graph == id && !module_.op(o).erased; };
    if (!in_graph(first) || !in_graph(then)) {
      add("order-edge", id, "an edge of the user's order leads to an op that is not in this graph");
    } else if (position_[first] >= position_[then]) {
      add("order-edge", then, "it comes before an op that the user has put before it");
    }
  }

  void op(GraphId id, OpId o) {
    bool usable = true;
    for (ValueId v : module_.operands(o)) {
      if (known(id, v)) continue;
      add("operand-defined", o,
          fmt::format("operand '{}' is neither an input of graph '{}' nor a result of an earlier op of it", name_of(v),
                      module_.graph(id).name));
      usable &= v.index() < module_.value_count();
    }
    for (GraphId g : module_.graphs(o)) usable &= g.index() < module_.graph_count();
    if (module_.op(o).in_place && !module_.row(o).has_in_place)
      add("in-place-form", o, fmt::format("{} has no in-place form", module_.row(o).name));
    if (usable) types(o);
  }

  // What types follow from: the same again needs no second look.
  bool was_right(OpId o) {
    const Op& op = module_.op(o);
    if (op.graph_count > 0) return false;
    key_.clear();
    key_.push_back(op.kind.value * 2u + op.in_place);
    key_.push_back(op.attributes.value);
    key_.push_back(op.operand_count);
    for (ValueId v : module_.operands(o)) key_.push_back(module_.value(v).type.value);
    for (ValueId v : module_.results(o)) key_.push_back(module_.value(v).type.value);
    hash_ = key_.size();
    for (std::uint32_t k : key_) hash_ = mixed(hash_, k);
    auto [begin, end] = right_.equal_range(hash_);
    return std::any_of(begin, end, [&](const auto& item) {
      const std::uint32_t* const known = known_.data() + item.second;
      return known[0] == key_.size() && std::equal(key_.begin(), key_.end(), known + 1);
    });
  }
  void note_right(OpId o) {
    if (module_.op(o).graph_count > 0) return;
    right_.emplace(hash_, known_.size());
    known_.push_back(static_cast<std::uint32_t>(key_.size()));
    known_.insert(known_.end(), key_.begin(), key_.end());
  }

  void types(OpId o) {
    if (was_right(o)) return;
    const std::size_t before = found_.size();
    infer(o);
    if (found_.size() == before) note_right(o);
  }

  void infer(OpId o) {
    std::vector<TypeId> operands;
    for (ValueId v : module_.operands(o)) operands.push_back(module_.value(v).type);
    std::vector<Type> inferred;
    try {
      const bool in_place = module_.op(o).in_place && module_.row(o).has_in_place;
      inferred = infer_types(module_, module_.row(o), operands, module_.attributes(o), module_.graphs(o), in_place);
    } catch (const ModelError& e) {
      add(e.id(), o, std::string(without_id(e.what())));
      return;
    } catch (const poplar::poplar_error& e) {  // a shape that there cannot be
      add(std::string(id_of(e.what())), o, std::string(without_id(e.what())));
      return;
    }
    const auto results = module_.results(o);
    if (inferred.size() != results.size()) {
      add("types-follow", o, fmt::format("it has {} results, {} follow", results.size(), inferred.size()));
      return;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Type& declared = module_.type_of(results[i]);
      const Type& t = inferred[i];
      const bool same = t.kind == declared.kind && t.dtype == declared.dtype && t.shape == declared.shape &&
                        t.meta_shape == declared.meta_shape && t.elements == declared.elements && places_agree(t.place, declared.place);
      if (!same) {
        add("types-follow", o,
            fmt::format("'{}' is declared {}, {} follows", module_.name_of(results[i]), module_.types().to_string(declared),
                        module_.types().to_string(t)));
      }
    }
  }

  // Depth first over the graphs that graphs carry.
  void cycles() {
    std::vector<int> state(module_.graph_count(), 0);
    struct Frame {
      GraphId graph;
      std::vector<GraphId> callees;
      std::size_t next = 0;
    };
    for (std::size_t root = 0; root < state.size(); ++root) {
      if (state[root]) continue;
      std::vector<Frame> stack{{GraphId(static_cast<std::uint32_t>(root)), callees(GraphId(static_cast<std::uint32_t>(root)))}};
      state[root] = 1;
      while (!stack.empty()) {
        Frame& f = stack.back();
        if (f.next == f.callees.size()) {
          state[f.graph.index()] = 2;
          stack.pop_back();
          continue;
        }
        const GraphId callee = f.callees[f.next++];
        if (state[callee.index()] == 1)
          add("graph-cycle", carrier_of(f.graph, callee),
              fmt::format("it carries graph '{}', which leads back to it", module_.graph(callee).name));
        if (state[callee.index()] != 0) continue;
        state[callee.index()] = 1;
        stack.push_back({callee, callees(callee)});
      }
    }
  }
  OpId carrier_of(GraphId graph, GraphId callee) const {
    for (OpId o : module_.graph(graph).ops) {
      if (has(module_.row(o).effects, Effects::code)) continue;
      for (GraphId c : module_.graphs(o)) {
        if (c == callee) return o;
      }
    }
    return {};
  }
  std::vector<GraphId> callees(GraphId g) const {
    std::vector<GraphId> all;
    for (OpId o : module_.graph(g).ops) {
      if (has(module_.row(o).effects, Effects::code)) continue;  // loading a graph's code does not run it
      for (GraphId c : module_.graphs(o)) {
        if (c.index() < module_.graph_count()) all.push_back(c);
      }
    }
    return all;
  }

  void states() {
    const Graph& main = module_.graph(module_.main_graph());
    std::vector<int> used(main.inputs.size(), 0);
    for (std::size_t s = 0; s < module_.state_count(); ++s) {
      const StateId where(static_cast<std::uint32_t>(s));
      const State& state = module_.state(where);
      const Type& t = module_.type(state.type);
      if (state.input) {
        if (*state.input >= main.inputs.size()) {
          add("state-input", where, fmt::format("input {} of the main graph, which has {}", *state.input, main.inputs.size()));
        } else {
          if (used[*state.input]++)
            add("state-input", where, fmt::format("input {} of the main graph holds another variable, too", *state.input));
          const Type& input = module_.type_of(main.inputs[*state.input]);
          if (input.dtype != t.dtype || input.shape != t.shape) {
            add("state-input", where,
                fmt::format("it is {}, the main graph's input {}", module_.types().to_string(t), module_.types().to_string(input)));
          }
        }
      } else {
        row(state, t, where);
      }
      const std::int64_t replicas = state.grouping.replicas();
      if (replicas != module_.replicas() && replicas != 1)
        add("state-data", where, fmt::format("groups of {} replicas; the module has {}", replicas, module_.replicas()));
      data(state, t, where);
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) add("state-input", module_.main_graph(), fmt::format("no variable is input '{}'", module_.name_of(main.inputs[i])));
    }
  }

  void row(const State& state, const Type& t, StateId where) {
    if (!state.buffer.valid() || state.buffer.index() >= module_.buffer_count()) {
      add("state-row", where, "it is neither an input of the main graph nor a row of a buffer");
      return;
    }
    const RemoteBuffer& b = module_.buffer(state.buffer);
    if (state.row < 0 || state.row >= b.entries) add("state-row", where, fmt::format("row {} of a buffer of {}", state.row, b.entries));
    if (b.dtype != t.dtype || b.shape != t.shape) {
      add("state-row", where,
          fmt::format("it is {}, rows of the buffer are {}", module_.types().to_string(t),
                      module_.types().to_string(tensor_type(b.dtype, b.shape))));
    }
  }

  void data(const State& state, const Type& t, StateId where) {
    if (!state.data.valid()) return;
    if (state.data.index() >= module_.blob_count()) {
      add("state-data", where, "its data do not exist");
      return;
    }
    const HostTensor& d = module_.blob(state.data);
    if (d.dtype() != t.dtype)
      add("state-data", where, fmt::format("data of {} for a variable of {}", ir::name_of(d.dtype()), ir::name_of(t.dtype)));
    std::int64_t expected = elements_of(t.meta_shape.empty() ? t.shape : t.meta_shape);
    if (state.sharded) return;
    const std::int64_t groups = state.grouping.groups();
    if (!t.meta_shape.empty()) expected = elements_of(t.shape);
    if (d.elements() != expected * groups) {
      add("state-data", where,
          fmt::format("data of shape {} for {} in {} groups", ir::to_string(d.shape()), module_.types().to_string(t), groups));
    }
  }

  const Module& module_;
  std::vector<Violation> found_;
  std::vector<bool> defined_;
  DenseMap<OpId, std::uint32_t> position_;
  // Keys of `was_right`, each behind its length, found by hash; the last one asked for.
  std::unordered_multimap<std::size_t, std::size_t> right_;
  std::vector<std::uint32_t> known_, key_;
  std::size_t hash_ = 0;
};

}  // namespace

std::vector<Violation> verify(const Module& module) { return Verifier(module).run(); }

std::string to_string(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& v : violations) {
    text += fmt::format("{}: {}: {}", v.rule, v.where, v.message);
    if (!v.location.empty()) text += fmt::format("\n  at {}", v.location);
    text += '\n';
  }
  return text;
}

void check(const Module& module) {
  const std::vector<Violation> found = verify(module);
  if (found.empty()) return;
  throw_model_error(
      ErrorClass::popart, found[0].rule,
      fmt::format("{} broken:\n{}", found.size() == 1 ? "a rule is" : fmt::format("{} rules are", found.size()), to_string(found)),
      found[0].location);
}

}  // namespace pando::ir
