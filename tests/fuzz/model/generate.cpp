#include "model/generate.h"

#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/rows/sample.h"
#include "model/aliases.h"
#include "model/gradients.h"
#include "random.h"

#include <algorithm>
#include <set>
#include <string>

namespace pando::fuzz {

namespace {

using namespace pando::ir;

// What small integers stay small integers through.
const std::set<std::string_view> kExact = {
    "add",
    "sub",
    "negate",
    "maximum",
    "minimum",
    "where",
    "equal",
    "greater",
    "less",
    "not_equal",
    "relu",
    "abs",
    "sign",
    "ceil",
    "floor",
    "identity",
    "detach",
    "clip",
    "gather",
    "tied_gather",
    "scatter",
    "slice",
    "reshape",
    "flatten",
    "squeeze",
    "transpose",
    "concat",
    "split",
    "subsample",
    "expand",
    "max",
    "min",
    "isnan",
    "isinf",
    "isfinite",
    "logical_not",
    "logical_and",
    "logical_or",
    "argmax",
    "argmin",
    "cumsum",
    "dynamic_slice",
    "dynamic_update",
    "copy_var_update_",
    "accumulate_",
    "accumulator_zero_",
    "increment_mod",
    "slice_assign",
    "sum",
    "replicated_all_reduce",
    "replicated_all_gather",
    "replicated_slice",
};

const std::vector<Shape> kShapes = {{}, {1}, {4}, {3, 4}, {4, 3}, {2, 3, 4}, {6}, {1, 4}, {5, 2}, {3, 3}};
const std::vector<DType> kTypes = {DType::float32, DType::float32, DType::float32, DType::int32, DType::float16, DType::uint32};

class Generator {
 public:
  Generator(std::uint64_t seed, const ModelLimits& limits) : random_(seed), limits_(limits) {
    replicas_ = limits.most_replicas > 1 && random_.chance(50) ? limits.most_replicas : 1;
    case_.builder = std::make_unique<Builder>(replicas_);
    for (const OpRow* row : op_table()) {
      if (row->in_program_only || row->samples == nullptr) continue;
      if (limits.exact && !kExact.contains(row->name)) continue;
      if (row->reference_group && replicas_ == 1) continue;
      rows_.push_back(row);
    }
  }

  ModelCase take() {
    Builder& b = *case_.builder;
    const GraphId main = b.module().main_graph();
    held_[main.value] = {};
    const bool sequence = random_.chance(30);
    stores_all_ = random_.chance(40);
    if (sequence) b.push_sequence(SequenceMode::ordered);
    for (std::uint64_t i = random_.between(1, 4); i-- > 0;) variable();
    for (std::uint64_t i = random_.between(0, 2); i-- > 0;) load(main);
    for (std::uint64_t i = random_.below(limits_.graphs + 1); i-- > 0;) {
      if (limits_.aliases && random_.chance(60))
        carried_graphs();
      else
        graph();
    }
    for (std::uint64_t i = random_.between(3, limits_.ops); i-- > 0;) step(main);
    if (limits_.gradients) gradient();
    if (limits_.aliases) return take_all(sequence);
    // What came last is looked at; some earlier things, too.
    std::vector<TensorId> all = held_[main.value];
    for (std::uint64_t i = random_.between(1, 4); i-- > 0 && !all.empty();)
      store(main, random_.chance(60) ? all[all.size() - 1 - random_.below(std::min<std::size_t>(3, all.size()))] : random_.pick(all));
    return finished(sequence);
  }

 private:
  ModelCase finished(bool sequence) {
    if (sequence) case_.builder->pop_sequence();
    case_.builder->finish();
    return std::move(case_);
  }

  // Everything is looked at, or some: what nobody reads any more is overwritten.
  ModelCase take_all(bool sequence) {
    const GraphId main = case_.builder->module().main_graph();
    for (TensorId t : std::vector<TensorId>(held_[main.value])) {
      if (stores_all_ || random_.chance(25)) store(main, t);
    }
    return finished(sequence);
  }

  HostTensor data(DType t, const Shape& shape) {
    HostTensor d(t, shape);
    const std::int64_t low = is_unsigned_integer(t) || t == DType::boolean ? 0 : -3;
    for (std::int64_t i = 0; i < d.elements(); ++i)
      d.set_integer(i, low + static_cast<std::int64_t>(random_.below(t == DType::boolean ? 2 : 7)));
    return d;
  }

  void hold(GraphId g, const std::vector<TensorId>& tensors) {
    for (TensorId t : tensors) {
      if (case_.builder->type_of(t).is_tensor()) held_[g.value].push_back(t);
    }
  }

  void variable() {
    Builder& b = *case_.builder;
    DType t = random_.pick(kTypes);
    Shape shape = random_.pick(kShapes);
    const std::vector<TensorId>& others = held_[b.module().main_graph().value];
    if (limits_.aliases && !others.empty() && random_.chance(60)) {
      const Type like = b.type_of(random_.pick(others));
      t = like.dtype;
      shape = like.shape;
    }
    State s;
    s.type = b.module().type(tensor_type(t, shape));
    s.grouping = ReplicaGrouping(replicas_);
    Shape full = shape;
    if (replicas_ > 1 && random_.chance(50)) {
      s.grouping = ReplicaGrouping(replicas_, 1, 1);
      full.insert(full.begin(), replicas_);
    }
    hold(b.module().main_graph(), {b.add_variable(s, data(t, full), "v")});
  }

  void load(GraphId g) {
    if (!find_op("host_load")) return;
    Builder& b = *case_.builder;
    HostStream s;
    s.name = "in" + std::to_string(b.module().stream_count());
    s.dtype = random_.pick(kTypes);
    s.shape = random_.pick(kShapes);
    const HostStreamId id = b.module().add_stream(s);
    Shape full = s.shape;
    full.insert(full.begin(), {static_cast<std::int64_t>(random_.between(1, 3)), replicas_});
    case_.inputs[id] = data(s.dtype, full);
    hold(g, b.op(g, "host_load", {}, {{"stream", id}}));
  }

  void store(GraphId g, TensorId t) {
    if (!find_op("host_store")) return;
    Builder& b = *case_.builder;
    HostStream s;
    s.name = "out" + std::to_string(b.module().stream_count());
    s.direction = HostStream::Direction::device_to_host;
    s.dtype = b.type_of(t).dtype;
    s.shape = b.type_of(t).shape;
    const HostStreamId id = b.module().add_stream(s);
    case_.outputs[id] = 1;
    b.op(g, "host_store", std::array{t}, {{"stream", id}});
  }

  // Graphs that hand their inputs on, changed or not, in some order: bodies of loops, and branches of one signature.
  void carried_graphs() {
    const std::vector<TensorId>& held = held_[case_.builder->module().main_graph().value];
    std::vector<Type> types;
    for (std::uint64_t i = random_.between(1, 3); i-- > 0;) {
      const bool known = !held.empty() && random_.chance(70);
      const Type like = known ? Type(case_.builder->type_of(random_.pick(held))) : tensor_type(random_.pick(kTypes), random_.pick(kShapes));
      types.push_back(!types.empty() && random_.chance(40) ? types[0] : tensor_type(like.dtype, like.shape));
    }
    const std::uint64_t outputs = random_.between(1, types.size());
    const GraphId first = carried_graph(types, outputs);
    if (random_.chance(50)) branches_.emplace_back(first, carried_graph(types, outputs));
  }

  GraphId carried_graph(const std::vector<Type>& types, std::uint64_t outputs) {
    Builder& b = *case_.builder;
    const GraphId g = b.create_graph("g" + std::to_string(b.module().graph_count()));
    held_[g.value] = {};
    for (const Type& t : types) hold(g, {b.add_input(g, t, "x", random_.chance(35))});
    for (std::uint64_t i = random_.between(1, 6); i-- > 0;) step(g);
    for (std::uint64_t o = 0; o < outputs; ++o) {
      std::vector<TensorId> fit;
      for (TensorId t : held_[g.value]) {
        if (b.type_of(t).dtype == types[o].dtype && b.type_of(t).shape == types[o].shape) fit.push_back(t);
      }
      b.add_output(g, random_.pick(fit));
    }
    callable_.push_back(g);
    return g;
  }

  // A graph of its own, called from then on.
  void graph() {
    Builder& b = *case_.builder;
    const GraphId g = b.create_graph("g" + std::to_string(b.module().graph_count()));
    held_[g.value] = {};
    for (std::uint64_t i = random_.between(1, 3); i-- > 0;) {
      hold(g, {b.add_input(g, tensor_type(random_.pick(kTypes), random_.pick(kShapes)), "x", random_.chance(25))});
    }
    for (std::uint64_t i = random_.between(1, 8); i-- > 0;) step(g);
    const std::vector<TensorId>& all = held_[g.value];
    for (std::uint64_t i = random_.between(1, 2); i-- > 0;) {
      const std::size_t last = random_.below(std::min<std::size_t>(3, all.size()));
      b.add_output(g, limits_.aliases && random_.chance(40) ? random_.pick(all) : all[all.size() - 1 - last]);
    }
    callable_.push_back(g);
  }

  // A graph of what has gradients, called with its gradient.
  void gradient() {
    Builder& b = *case_.builder;
    const GraphId main = b.module().main_graph(), g = b.create_graph("d" + std::to_string(b.module().graph_count()));
    held_[g.value] = {};
    const Shape shape = random_.pick(kShapes);
    for (std::uint64_t i = random_.between(1, 3); i-- > 0;) {
      hold(g, {b.add_input(g, tensor_type(DType::float32, random_.chance(70) ? shape : random_.pick(kShapes)), "x", false)});
    }
    modifies_ = false;
    for (std::uint64_t i = random_.between(1, 6); i-- > 0;) step(g);
    modifies_ = true;
    std::vector<TensorId> floats;
    for (TensorId t : held_[g.value]) {
      if (b.type_of(t).dtype == DType::float32) floats.push_back(t);
    }
    b.add_output(g, floats.back());
    b.finish();
    std::vector<TensorId> operands;
    for (ValueId v : b.module().graph(g).inputs) operands.push_back(*holding(main, Type(b.module().type_of(v))));
    const std::vector<TensorId> made = call_with_gradient(b, random_, g, operands);
    hold(main, made);
    for (TensorId t : made) store(main, t);
  }

  void step(GraphId g) {
    if (limits_.aliases && !callable_.empty() && random_.chance(22) && (random_.chance(25) ? conditional(g) : call(g))) return;
    // What is read here is not what is read at the end.
    if (limits_.aliases && g == case_.builder->module().main_graph() && random_.chance(stores_all_ ? 8 : 15))
      return store(g, random_.pick(held_[g.value]));
    if (limits_.aliases && random_.chance(85) && AliasSteps(*case_.builder, random_).step(g, held_[g.value])) return;
    if (!callable_.empty() && random_.chance(15) && call(g)) return;
    if (random_.chance(8) && dense(g)) return;
    for (int attempt = 0; attempt < 40; ++attempt) {
      if (plain(g)) return;
    }
  }

  // A product, and a few element-wise ops of which each reads the one before: what may become one step. Sums of small whole numbers are
  // exact in any order.
  bool dense(GraphId g) {
    Builder& b = *case_.builder;
    const DType type = random_.chance(75) ? DType::float32 : DType::float16;
    const auto size = [&] { return static_cast<std::int64_t>(random_.chance(10) ? random_.between(30, 70) : random_.between(1, 6)); };
    const auto given = [&](const Shape& shape) {
      return limits_.exact ? b.add_constant(g, data(type, shape), "c") : *holding(g, tensor_type(type, shape));
    };
    const auto op = [&](std::string_view name, std::vector<TensorId> operands) { return b.op(g, name, operands, {}, {}, false)[0]; };
    const std::int64_t m = size(), k = size(), n = size();
    const std::vector<Shape> shapes{{n}, {m, n}, {m, n}, {}, {m, 1}};
    try {
      TensorId t = op("matmul", {given({m, k}), given({k, n})});
      for (std::uint64_t i = random_.between(1, 3); i-- > 0;) {
        const TensorId before = t;
        if (random_.chance(60))
          t = op(random_.pick(std::vector<std::string_view>{"add", "sub", "maximum"}), {t, given(random_.pick(shapes))});
        else
          t = op(random_.pick(std::vector<std::string_view>{"relu", "abs", "negate"}), {t});
        if (random_.chance(20)) keep(g, before);
      }
      keep(g, t);
      return true;
    } catch (const ModelError&) { return false; }  // operands of other places
  }

  // Larger tensors are looked at, and not used again.
  void keep(GraphId g, TensorId t) {
    const bool small = elements_of(case_.builder->type_of(t).shape) <= static_cast<std::int64_t>(limits_.most_elements);
    if (small)
      hold(g, {t});
    else if (g == case_.builder->module().main_graph())
      store(g, t);
  }

  std::optional<TensorId> holding(GraphId g, const Type& type) {
    std::vector<TensorId> fit;
    for (TensorId t : held_[g.value]) {
      const Type& have = case_.builder->type_of(t);
      if (have.dtype == type.dtype && have.shape == type.shape) fit.push_back(t);
    }
    if (!fit.empty() && random_.chance(80)) return random_.pick(fit);
    return case_.builder->add_constant(g, data(type.dtype, type.shape), "c");
  }

  bool call(GraphId g) {
    Builder& b = *case_.builder;
    const GraphId callee = random_.pick(callable_);
    if (callee == g) return false;
    // What a graph hands back cannot be differentiated.
    const auto& by_ref = b.module().graph(callee).by_ref;
    if (!modifies_ && std::find(by_ref.begin(), by_ref.end(), true) != by_ref.end()) return false;
    std::vector<TensorId> operands;
    const Graph callee_graph = b.module().graph(callee);
    for (ValueId v : callee_graph.inputs) {
      const Type type = b.module().type_of(v);
      const bool again = limits_.aliases && !operands.empty() && b.type_of(operands.back()).shape == type.shape &&
                         b.type_of(operands.back()).dtype == type.dtype && random_.chance(30);
      operands.push_back(again ? operands.back() : *holding(g, type));
    }
    // A tensor that is handed back twice would be ambiguous.
    std::vector<TensorId> sorted = operands;
    std::sort(sorted.begin(), sorted.end());
    const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    const bool hands_back = std::find(callee_graph.by_ref.begin(), callee_graph.by_ref.end(), true) != callee_graph.by_ref.end();
    if (twice && (hands_back || !limits_.aliases)) return false;
    const bool carries = carried(callee_graph);
    if (carries && random_.chance(limits_.aliases ? 50 : 30)) {
      hold(g, b.op(g, "repeat", operands, {{"count", static_cast<std::int64_t>(random_.below(4))}}, std::array{callee}));
      if (limits_.aliases && !twice) hand_back(b.last_op(), operands);
      return true;
    }
    hold(g, b.op(g, "call", operands, {}, std::array{callee}));
    const OpId op = b.last_op();
    if (limits_.aliases) {
      if (!twice) hand_back(op, operands);
      return true;
    }
    if (modifies_ && random_.chance(25) && b.tensor(operands[0]).kind != Builder::TensorKind::constant) b.set_modified(op, 0);
    return true;
  }

  // Some of what a call was given becomes what the graph made of it.
  void hand_back(OpId op, const std::vector<TensorId>& operands) {
    for (std::uint32_t i = 0; i < operands.size(); ++i) {
      const std::set<TensorId> below = roots(operands[i]);
      const bool is_constant = std::any_of(below.begin(), below.end(),
                                           [&](TensorId t) { return case_.builder->tensor(t).kind == Builder::TensorKind::constant; });
      if (!is_constant && random_.chance(40)) case_.builder->set_modified(op, i);
    }
  }

  bool conditional(GraphId g) {
    Builder& b = *case_.builder;
    if (branches_.empty()) return false;
    const auto [first, second] = random_.pick(branches_);
    if (first == g || second == g) return false;
    std::vector<TensorId> operands = {
        b.add_constant(g, HostTensor::filled(DType::boolean, {}, static_cast<double>(random_.below(2))), "c")};
    for (const GraphId branch : {first, second}) {
      for (ValueId v : std::vector<ValueId>(b.module().graph(branch).inputs)) operands.push_back(*holding(g, Type(b.module().type_of(v))));
    }
    const auto inputs = static_cast<std::int64_t>(b.module().graph(first).inputs.size());
    hold(g, b.op(g, "conditional", operands, {{"then_inputs", inputs}}, std::array{first, second}));
    return true;
  }

  // Whether outputs can be the next inputs.
  bool carried(const Graph& g) const {
    const Module& m = case_.builder->module();
    if (g.outputs.size() > g.inputs.size()) return false;
    for (std::size_t i = 0; i < g.outputs.size(); ++i) {
      const Type &a = m.type_of(g.outputs[i]), &b = m.type_of(g.inputs[i]);
      if (a.dtype != b.dtype || a.shape != b.shape) return false;
    }
    return true;
  }

  bool plain(GraphId g) {
    Builder& b = *case_.builder;
    const OpRow& row = *random_.pick(rows_);
    const std::vector<Sample> samples = row.samples();
    if (samples.empty()) return false;
    const Sample& sample = random_.pick(samples);
    std::vector<TensorId> operands;
    for (std::size_t i = 0; i < sample.operands.size(); ++i) {
      const auto t = operand(g, row, i, sample);
      if (!t) return false;
      operands.push_back(*t);
    }
    const bool modifies = row.modifies[0].operand >= 0;
    // Updates of integers are computed as floats, which large ones do not fit; a quotient just below a whole number may reach it.
    if (!limits_.exact && (modifies || row.modifies_more || row.name == "increment_mod") && !operands.empty() &&
        is_integer(case_.builder->type_of(operands[0]).dtype))
      return false;
    // Of a number by itself: 0, or none where it is 0, which a rounding decides.
    if (!limits_.exact && row.name == "fmod" && operands[0] == operands[1]) return false;
    const bool in_place = row.has_in_place && random_.chance(35);
    if ((modifies || in_place) && !modifies_) return false;
    if ((modifies || in_place) && !may_modify(operands, row, in_place)) return false;
    try {
      const std::vector<TensorId> results = b.op(g, row.name, operands, sample.attributes, {}, in_place);
      for (TensorId t : results) {
        if (elements_of(b.type_of(t).shape) > static_cast<std::int64_t>(limits_.most_elements))
          return true;  // grown too large: not used again
      }
      hold(g, results);
      return true;
    } catch (const ModelError&) { return false; }
  }

  // A constant cannot be modified; nor one operand that is another one's, too.
  bool may_modify(const std::vector<TensorId>& operands, const OpRow& row, bool in_place) const {
    const bool view = row.view != View::none;
    for (TensorId t : operands) {
      for (TensorId root : roots(t)) {
        if (case_.builder->tensor(root).kind == Builder::TensorKind::constant && (in_place || row.modifies[0].operand >= 0)) return false;
      }
    }
    if (view) return true;
    std::vector<TensorId> all;
    for (TensorId t : operands) {
      for (TensorId root : roots(t)) all.push_back(root);
    }
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) == all.end();
  }
  std::set<TensorId> roots(TensorId t) const {
    const Builder::Tensor& tensor = case_.builder->tensor(t);
    if (tensor.bases.empty()) return {t};
    std::set<TensorId> all;
    for (TensorId base : tensor.bases) {
      const std::set<TensorId> more = roots(base);
      all.insert(more.begin(), more.end());
    }
    return all;
  }

  // What the graph holds and the row takes; values where the sample asks for certain ones (indices).
  std::optional<TensorId> operand(GraphId g, const OpRow& row, std::size_t i, const Sample& sample) {
    const Sample::Operand& wanted = sample.operands[i];
    if (!wanted.values.empty()) {
      HostTensor d(wanted.dtype, wanted.shape);
      for (std::int64_t e = 0; e < d.elements(); ++e) d.set(e, wanted.values[static_cast<std::size_t>(e) % wanted.values.size()]);
      return case_.builder->add_constant(g, std::move(d), "c");
    }
    if (is_integer(wanted.dtype) && row.operands[std::min<std::size_t>(i, 9)].types == any_integer) {
      HostTensor d(wanted.dtype, wanted.shape);
      for (std::int64_t e = 0; e < d.elements(); ++e)
        d.set_integer(e, static_cast<std::int64_t>(wanted.low) +
                             static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(std::max(1.0, wanted.high - wanted.low)))));
      return case_.builder->add_constant(g, std::move(d), "c");
    }
    if (random_.chance(25)) return holding(g, tensor_type(wanted.dtype, wanted.shape));
    if (held_[g.value].empty()) return std::nullopt;
    return random_.pick(held_[g.value]);
  }

  Random random_;
  ModelLimits limits_;
  std::int64_t replicas_ = 1;
  ModelCase case_;
  std::vector<const OpRow*> rows_;
  std::map<std::uint32_t, std::vector<TensorId>> held_;
  std::vector<GraphId> callable_;
  std::vector<std::pair<GraphId, GraphId>> branches_;
  bool modifies_ = true;  // whether steps may modify tensors
  bool stores_all_ = true;
};

}  // namespace

ModelLimits limits_of(std::uint64_t seed) {
  ModelLimits limits;
  limits.gradients = seed % 4 == 1;
  limits.aliases = seed % 4 == 3;
  limits.exact = limits.aliases || seed % 3 != 0;
  limits.most_replicas = seed % 5 == 0 ? 2 : 1;
  return limits;
}

ModelCase generate_model(std::uint64_t seed, const ModelLimits& limits) { return Generator(seed, limits).take(); }

}  // namespace pando::fuzz
