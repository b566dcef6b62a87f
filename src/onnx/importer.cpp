#include "onnx/importer.h"

#include "ir/checks/verify.h"
#include "ir/reject_at.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/interpreter.h"
#include "onnx/tensor_reader.h"

#include <algorithm>

namespace pando::onnx {

using ir::ErrorClass;

namespace {

// Functions that call functions, graphs in nodes of graphs: more than this is a circle, or no model that anybody wrote.
constexpr int kDeepest = 64;

std::string full_name(const Node& n) { return n.domain.empty() ? n.op : n.domain + "." + n.op; }

bool has_graph(const Node& n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(), [](const auto& a) { return a.second.graph != nullptr; });
}

// The nodes of a function, with its attributes' values where they refer to them.
std::vector<Node> with_attributes(std::vector<Node> nodes, const std::map<std::string, Attribute>& given) {
  for (Node& n : nodes) {
    for (auto it = n.attributes.begin(); it != n.attributes.end();) {
      Attribute& a = it->second;
      if (!a.reference.empty()) {
        const auto value = given.find(a.reference);
        if (value == given.end()) {
          it = n.attributes.erase(it);
          continue;
        }
        a = value->second;
      } else if (a.graph) {
        Graph inner = *a.graph;
        inner.nodes = with_attributes(std::move(inner.nodes), given);
        a.graph = std::make_shared<const Graph>(std::move(inner));
      }
      ++it;
    }
  }
  return nodes;
}

}  // namespace

Importer::Importer(const Model& model, const ImportOptions& options) : model_(model), options_(options) {
  main_.graph = module_.add_graph("main");
  main_.opsets = &model.opsets;
}

ir::Module Importer::run() {
  reject_unknown();
  for (const auto& [name, data] : options_.values) {
    const auto is = [&name = name](const ValueInfo& v) { return v.name == name; };
    if (std::none_of(model_.graph.inputs.begin(), model_.graph.inputs.end(), is))
      ir::reject_at(ErrorClass::value, "onnx-value", {model_.source}, "values are given for '{}', which is not an input of the model",
                    name);
  }
  for (const ValueInfo& v : model_.graph.inputs) {
    const auto given = options_.values.find(v.name);
    if (given != options_.values.end()) {
      given_input(v, given->second);
    } else if (!model_.graph.initializers.contains(v.name)) {
      input(v);
    }
  }
  find_weights();
  initializers(main_, model_.graph);
  nodes(main_, model_.graph.nodes);
  for (const ValueInfo& v : model_.graph.outputs) {
    const SourceLocation place{model_.source, 0, 0, "the model's outputs"};
    results_[v.name] = value_of(main_, use(main_, v.name, place), v.name);
    output(v.name, results_[v.name]);
  }
  ir::check(module_);
  return std::move(module_);
}

const Function* Importer::function_of(const Node& node) const {
  for (const Function& f : model_.functions) {
    if (f.name == node.op && f.domain == node.domain) return &f;
  }
  return nullptr;
}

void Importer::count_unknown(const std::vector<Node>& nodes, Counts& unknown, int depth) const {
  if (depth > kDeepest)
    ir::reject_at(ErrorClass::value, "onnx-file", {model_.source}, "graphs and functions lie inside one another more than {} deep",
                  kDeepest);
  for (const Node& n : nodes) {
    const Function* f = function_of(n);
    if (find_operator(n.domain, n.op) == nullptr && f == nullptr) ++unknown[full_name(n)];
    if (f != nullptr && find_operator(n.domain, n.op) == nullptr && depth < kDeepest) continue;
    for (const auto& [name, a] : n.attributes) {
      if (a.graph) count_unknown(a.graph->nodes, unknown, depth + 1);
    }
  }
}

// All of them in one error.
void Importer::reject_unknown() const {
  Counts unknown;
  count_unknown(model_.graph.nodes, unknown, 0);
  for (const Function& f : model_.functions) count_unknown(f.nodes, unknown, 0);
  if (unknown.empty()) return;
  std::string list;
  for (const auto& [name, count] : unknown) list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", name, count);
  ir::reject_at(ErrorClass::value, "onnx-ops", {model_.source}, "the model has ops that are not known here (how often): {}", list);
}

// What products and tables take as weights, be it through a view or a cast.
void Importer::find_weights() {
  static const std::set<std::string_view> kTake{"MatMul", "Gemm", "Conv", "ConvTranspose", "Gather"};
  static const std::set<std::string_view> kPass{"Transpose", "Reshape", "Cast", "Identity", "Squeeze", "Unsqueeze"};
  const std::vector<Node>& all = model_.graph.nodes;
  for (std::size_t i = all.size(); i-- > 0;) {
    const Node& n = all[i];
    if (kTake.contains(n.op)) weights_.insert(n.inputs.begin(), n.inputs.end());
    const bool passes = kPass.contains(n.op) && !n.inputs.empty() && !n.outputs.empty();
    if (passes && weights_.contains(n.outputs[0])) weights_.insert(n.inputs[0]);
  }
}

// Whether a value that is known is a variable, as an initializer would be: then it is cut over devices as weights are.
bool Importer::is_weight(const std::string& name, const HostTensor& data) const {
  return ir::is_floating(data.dtype()) && data.shape().size() >= 2 && weights_.contains(name);
}

ValueId Importer::variable(const std::string& name, const ir::Type& type, const HostTensor* data) {
  const ValueId v = module_.add_input(main_.graph, type, name);
  ir::State s;
  s.name = module_.name_of(v);
  s.type = module_.type(type);
  s.input = module_.value(v).index;
  if (data) s.data = module_.add_blob(*data);
  module_.add_state(std::move(s));
  return v;
}

Shape Importer::input_shape(const ValueInfo& info) const {
  Shape shape;
  for (std::size_t d = 0; d < info.shape.size(); ++d) {
    const Dimension& dim = info.shape[d];
    // -1 is what some exporters write where a size is open.
    std::optional<std::int64_t> size = dim.value && *dim.value >= 0 ? dim.value : std::nullopt;
    const std::string place = fmt::format("{}.{}", info.name, d);
    for (const std::string& key : {dim.name, place}) {
      const auto it = options_.dimensions.find(key);
      if (!size && !key.empty() && it != options_.dimensions.end()) size = it->second;
    }
    if (!size) {
      const std::string what =
          dim.name.empty() ? fmt::format("dimension {} has no size", d) : fmt::format("it has a dimension '{}' without a size", dim.name);
      ir::reject_at(ErrorClass::value, "onnx-dimension", {model_.source, 0, 0, fmt::format("input '{}'", info.name)},
                    "{}; give one as dimension '{}'", what, dim.name.empty() ? place : dim.name);
    }
    shape.push_back(*size);
  }
  checked_elements(shape, info.name);
  return shape;
}

void Importer::input(const ValueInfo& info) {
  const Shape shape = input_shape(info);
  const SourceLocation where{model_.source, 0, 0, fmt::format("input '{}'", info.name)};
  if (!info.has_type) ir::reject_at(ErrorClass::value, "onnx-element-type", where, "it has no element type");
  const auto from = std::make_shared<const std::set<std::string>>(std::set{info.name});
  if (options_.streams) {
    const ir::HostStreamId id = module_.add_stream({info.name, ir::HostStream::Direction::host_to_device, info.dtype, shape});
    bind(main_, info.name, {{}, module_.result(ir::infer_and_add(module_, main_.graph, "host_load", {}, {{"stream", id}})), nullptr, from},
         where);
  } else {
    bind(main_, info.name, {{}, variable(info.name, ir::tensor_type(info.dtype, shape), nullptr), nullptr, from}, where);
  }
}

void Importer::given_input(const ValueInfo& info, const HostTensor& data) {
  const SourceLocation where{model_.source, 0, 0, fmt::format("input '{}'", info.name)};
  bool fits = info.shape.size() == data.shape().size() && (!info.has_type || info.dtype == data.dtype());
  for (std::size_t d = 0; fits && d < info.shape.size(); ++d) {
    const std::int64_t declared = info.shape[d].value.value_or(-1);
    fits = declared < 0 || declared == data.shape()[d];
  }
  if (!fits)
    ir::reject_at(ErrorClass::value, "onnx-value", where, "its value is given as {}{}, which its type in the model does not allow",
                  ir::name_of(data.dtype()), ir::to_string(data.shape()));
  bind(main_, info.name, {data, {}}, where);
}

void Importer::output(const std::string& name, ValueId v) {
  if (!options_.streams) return module_.add_output(main_.graph, v);
  const ir::Type& type = module_.type_of(v);
  const ir::HostStreamId id = module_.add_stream({name, ir::HostStream::Direction::device_to_host, type.dtype, type.shape});
  ir::infer_and_add(module_, main_.graph, "host_store", {&v, 1}, {{"stream", id}});
}

// Weights are variables; integers and scalars are constants.
void Importer::initializers(Scope& scope, const Graph& graph) {
  for (const std::string& name : graph.initializer_names) {
    if (scope.names.contains(name)) continue;  // an input whose value was given
    const HostTensor& data = graph.initializers.at(name);
    const SourceLocation where{model_.source, 0, 0, fmt::format("data '{}'", name)};
    const bool varies = &scope == &main_ && ir::is_floating(data.dtype()) && !data.shape().empty();
    bind(scope, name, varies ? Bound{{}, {}, &data} : Bound{data, {}, nullptr}, where);
  }
}

void Importer::bind(Scope& scope, const std::string& name, Bound bound, const SourceLocation& where) {
  if (name.empty()) return;
  if (!scope.names.emplace(name, std::move(bound)).second)
    ir::reject_at(ErrorClass::value, "onnx-value", where, "'{}' is made twice", name);
}

const Bound* Importer::find(const Scope& scope, const std::string& name) const {
  for (const Scope* s = &scope; s != nullptr; s = s->parent) {
    if (const auto it = s->names.find(name); it != s->names.end()) return &it->second;
  }
  return nullptr;
}

// What a graph of its own takes from the graphs around it comes in through an input.
std::optional<Bound> Importer::look_up(Scope& scope, const std::string& name) {
  if (const auto it = scope.names.find(name); it != scope.names.end()) return it->second;
  if (scope.parent == nullptr) return std::nullopt;
  std::optional<Bound> outer = look_up(*scope.parent, name);
  if (!outer || outer->known || scope.graph == scope.parent->graph) return outer;
  if (outer->initial != nullptr) outer->value = value_of(*scope.parent, *outer, name);
  const ValueId inner = module_.add_input(scope.graph, module_.type_of(outer->value), name);
  scope.captured.push_back(outer->value);
  return scope.names[name] = {{}, inner, nullptr, outer->inputs};
}

Bound Importer::use(Scope& scope, const std::string& name, const SourceLocation& user) {
  const std::optional<Bound> b = look_up(scope, name);
  if (!b) ir::reject_at(ErrorClass::value, "onnx-value", user, "'{}' is made by no earlier node", name);
  return *b;
}

// Of the main graph; graphs of their own take it in through inputs (look_up).
ValueId Importer::weight(Scope& scope, const Bound& bound, const std::string& name) {
  Scope* s = &scope;
  while (s->parent != nullptr && !s->names.contains(name)) s = s->parent;
  Bound& b = s->names[name];
  if (b.initial == nullptr) return use(scope, name, {model_.source}).value;
  if (!b.value.valid()) b.value = variable(name, ir::tensor_type(bound.initial->dtype(), bound.initial->shape()), bound.initial);
  return b.value;
}

ValueId Importer::value_of(Scope& scope, const Bound& bound, const std::string& name) {
  if (bound.value.valid()) return bound.value;
  if (bound.initial != nullptr) return weight(scope, bound, name);
  // Made once in each graph, where its name is.
  const auto named = scope.names.find(name);
  const bool here = named != scope.names.end() && named->second.known;
  if (here && named->second.value.valid()) return named->second.value;
  ValueId v;
  if (&scope == &main_ && is_weight(name, *bound.known)) {
    v = variable(name, ir::tensor_type(bound.known->dtype(), bound.known->shape()), &*bound.known);
  } else {
    const ir::BlobId blob = module_.add_blob(*bound.known);
    v = module_.result(ir::infer_and_add(module_, scope.graph, "constant", {}, {{"data", blob}}, {}, false, {}, name));
  }
  if (here) named->second.value = v;
  return v;
}

void Importer::nodes(Scope& scope, const std::vector<Node>& all) {
  for (const Node& n : all) node(scope, n);
}

std::int64_t Importer::opset_of(const Scope& scope, const Node& node) const {
  const auto it = scope.opsets->find(node.domain);
  return it == scope.opsets->end() ? 1 : it->second;
}

void Importer::node(Scope& scope, const Node& n) {
  const KnownOperator* op = find_operator(n.domain, n.op);
  if (op == nullptr) return call_function(scope, n, *function_of(n));
  const SourceLocation where = location_of(model_.source, n);
  check_node(n, op->signature, model_.source);
  std::vector<Bound> operands;
  bool all_known = !n.inputs.empty() && op->row->folds && !has_graph(n);
  for (const std::string& name : n.inputs) {
    operands.push_back(name.empty() ? Bound() : use(scope, name, where));
    all_known = all_known && (name.empty() || operands.back().known);
  }
  const std::int64_t opset = opset_of(scope, n);
  if (all_known && compute(scope, n, *op, operands, opset)) return;
  Context c(*this, scope, module_, scope.graph, n, model_.source, opset);
  for (const Bound& b : operands) {
    c.values.push_back(b.known ? ValueId() : b.value);
    c.known.push_back(b.known);
    c.initial.push_back(b.initial);
    c.inputs.push_back(b.inputs);
  }
  c.make = [&](std::size_t i) { return value_of(scope, operands[i], n.inputs[i]); };
  c.from = inputs_of(operands);
  apply(*op, c);
  bind_results(scope, n, c);
}

void Importer::bind_results(Scope& scope, const Node& n, const Context& c) {
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    if (n.outputs[i].empty()) continue;
    Bound b;
    if (const auto it = c.known_results.find(i); it != c.known_results.end()) b.known = it->second;
    if (i < c.results.size()) b.value = c.results[i];
    b.inputs = c.from;
    if (!b.valid()) c.reject(fmt::format("its result {} ('{}') is not computed", i, n.outputs[i]));
    bind(scope, n.outputs[i], std::move(b), location_of(model_.source, n));
  }
}

void Importer::apply(const KnownOperator& op, Context& c) const {
  try {
    op.row->rule(c);
  } catch (const ModelError& e) {
    if (!e.location().empty()) throw;
    c.reject(std::string(without_id(e.what())));
  }
}

// Few lists for many values: most follow from what one of their operands follows from.
Inputs Importer::inputs_of(const std::vector<Bound>& operands) {
  Inputs all;
  for (const Bound& b : operands) {
    if (b.known || !b.inputs || b.inputs == all) continue;
    if (!all) {
      all = b.inputs;
    } else if (!std::includes(all->begin(), all->end(), b.inputs->begin(), b.inputs->end())) {
      std::set<std::string> both = *all;
      both.insert(b.inputs->begin(), b.inputs->end());
      all = std::make_shared<const std::set<std::string>>(std::move(both));
    }
  }
  return all;
}

// What depends on shapes and constants alone is computed now, unless it is large.
bool Importer::compute(Scope& scope, const Node& n, const KnownOperator& op, const std::vector<Bound>& operands, std::int64_t opset) {
  ir::Module m;
  const ir::GraphId g = m.add_graph("main");
  Context c(*this, scope, m, g, n, model_.source, opset);
  for (const Bound& b : operands) {
    c.known.push_back(b.known);
    c.values.emplace_back();
    c.initial.push_back(nullptr);
  }
  c.make = [&](std::size_t i) { return c.constant(*c.known[i]); };
  apply(op, c);
  for (std::size_t v = 0; v < m.value_count(); ++v) {
    const ir::Type& type = m.type_of(ValueId(static_cast<ValueId::rep>(v)));
    if (type.kind == ir::Type::Kind::tensor && ir::elements_of(type.shape) > kMostFolded) return false;
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < c.results.size(); ++i) {
    if (!c.results[i].valid()) continue;
    m.add_output(g, c.results[i]);
    places.push_back(i);
  }
  const std::vector<ir::HostValue> out = ir::Interpreter(m).run_graph(g, {});
  for (std::size_t i = 0; i < places.size(); ++i) c.known_results.insert_or_assign(places[i], out[i].tensor);
  c.results.clear();
  bind_results(scope, n, c);
  return true;
}

std::vector<Bound> Importer::read_graph(Scope& scope, const Graph& graph, const std::vector<Bound>& inputs, const Context& user) {
  if (++depth_ > kDeepest) user.reject(fmt::format("graphs and functions lie inside one another more than {} deep", kDeepest));
  const SourceLocation where = location_of(model_.source, user.node);
  if (graph.inputs.size() != inputs.size())
    user.reject(fmt::format("its graph '{}' has {} inputs; {} are expected", graph.name, graph.inputs.size(), inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) bind(scope, graph.inputs[i].name, inputs[i], where);
  initializers(scope, graph);
  nodes(scope, graph.nodes);
  std::vector<Bound> outputs;
  for (const ValueInfo& v : graph.outputs) outputs.push_back(use(scope, v.name, where));
  --depth_;
  return outputs;
}

Scope Importer::graph_scope(Context& user, std::string_view name) {
  Scope scope;
  scope.parent = &user.scope();
  scope.opsets = user.scope().opsets;
  const std::string wanted = fmt::format("{}.{}", user.node.outputs[0], name);
  std::string free = wanted;
  for (int i = 1; module_.graph_named(free); ++i) free = fmt::format("{}_{}", wanted, i);
  scope.graph = module_.add_graph(free);
  return scope;
}

void Importer::call_function(Scope& scope, const Node& n, const Function& f) {
  const SourceLocation where = location_of(model_.source, n);
  if (++depth_ > kDeepest) ir::reject_at(ErrorClass::value, "onnx-node", where, "functions call one another more than {} deep", kDeepest);
  if (n.inputs.size() > f.inputs.size() || n.outputs.size() > f.outputs.size())
    ir::reject_at(ErrorClass::value, "onnx-node", where, "the function has {} inputs and {} outputs; {} and {} are given", f.inputs.size(),
                  f.outputs.size(), n.inputs.size(), n.outputs.size());
  std::map<std::string, Attribute> attributes = f.defaults;
  for (const auto& [name, a] : n.attributes) {
    if (std::find(f.attributes.begin(), f.attributes.end(), name) == f.attributes.end() && !f.defaults.contains(name))
      ir::reject_at(ErrorClass::value, "onnx-node", where, "attribute '{}' is not known", name);
    attributes.insert_or_assign(name, a);
  }
  Scope inner;
  inner.graph = scope.graph;
  inner.opsets = f.opsets.empty() ? scope.opsets : &f.opsets;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (!n.inputs[i].empty()) bind(inner, f.inputs[i], use(scope, n.inputs[i], where), where);
  }
  // Inputs that are not given are absent in the function's nodes, too.
  std::vector<Node> body = with_attributes(f.nodes, attributes);
  for (Node& b : body) {
    for (std::string& name : b.inputs) {
      const auto at = std::find(f.inputs.begin(), f.inputs.end(), name);
      if (at != f.inputs.end() && !inner.names.contains(name)) name.clear();
    }
  }
  nodes(inner, body);
  for (std::size_t i = 0; i < n.outputs.size(); ++i) bind(scope, n.outputs[i], use(inner, f.outputs[i], where), where);
  --depth_;
}

}  // namespace pando::onnx
