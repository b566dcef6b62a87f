#include "onnx/import.h"

#include "ir/checks/verify.h"
#include "ir/infer.h"
#include "ir/interpreter.h"
#include "ir/refuse_at.h"
#include "onnx/nodes.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace pando::onnx {

namespace {

using ir::ErrorClass;
using ir::HostTensor;
using ir::ValueId;

// What is computed at import: enough for shapes and tables of positions.
constexpr std::int64_t kMostKnown = 1 << 16;

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options) : model_(model), options_(options), graph_(module_.add_graph("main")) {}

  ir::Module run() {
    refuse_unknown();
    for (const ValueInfo& v : model_.inputs) {
      if (!model_.initializers.contains(v.name)) input(v);
    }
    find_weights();
    for (const std::string& name : model_.initializer_names) initializer(name);
    for (const Node& n : model_.nodes) node(n);
    for (const ValueInfo& v : model_.outputs) output(v.name, value(v.name, {model_.source, 0, 0, "the model's outputs"}));
    ir::check(module_);
    return std::move(module_);
  }

 private:
  static bool is_special(const Node& n) { return n.op == "Constant" || n.op == "Shape" || n.op == "NonZero"; }

  // All of them in one error.
  void refuse_unknown() const {
    std::map<std::string, std::size_t> unknown;
    for (const Node& n : model_.nodes) {
      const bool standard = n.domain.empty() || n.domain == "ai.onnx";
      if (!standard || (!is_special(n) && !rule_of(n.op))) ++unknown[standard ? n.op : n.domain + "." + n.op];
    }
    if (unknown.empty()) return;
    std::string list;
    for (const auto& [name, count] : unknown) list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", name, count);
    ir::refuse_at(ErrorClass::value, "onnx-ops", {model_.source}, "the model has ops that are not known here (how often): {}", list);
  }

  // What products and tables take as weights, be it through a view or a cast.
  void find_weights() {
    static const std::set<std::string_view> kTake{"MatMul", "Gemm", "Conv", "ConvTranspose", "Gather"};
    static const std::set<std::string_view> kPass{"Transpose", "Reshape", "Cast", "Identity", "Squeeze", "Unsqueeze"};
    for (std::size_t i = model_.nodes.size(); i-- > 0;) {
      const Node& n = model_.nodes[i];
      if (kTake.contains(n.op)) weights_.insert(n.inputs.begin(), n.inputs.end());
      const bool passes = kPass.contains(n.op) && !n.inputs.empty() && !n.outputs.empty();
      if (passes && weights_.contains(n.outputs[0])) weights_.insert(n.inputs[0]);
    }
  }
  // Whether a value that is known is a variable, as an initializer would be: then it is cut over devices as weights are.
  bool is_weight(const std::string& name, const HostTensor& data) const {
    return ir::is_floating(data.dtype()) && data.shape().size() >= 2 && weights_.contains(name);
  }

  ValueId variable(const std::string& name, const ir::Type& type, const HostTensor* data) {
    const ValueId v = module_.add_input(graph_, type, name);
    ir::State s;
    s.name = module_.name_of(v);
    s.type = module_.type(type);
    s.input = module_.value(v).index;
    if (data) s.data = module_.add_blob(*data);
    module_.add_state(std::move(s));
    return v;
  }

  void input(const ValueInfo& info) {
    ir::Shape shape;
    for (const Dimension& d : info.shape) {
      const auto it = options_.dimensions.find(d.name);
      if (!d.value && it == options_.dimensions.end()) {
        ir::refuse_at(ErrorClass::value, "onnx-dimension", {model_.source, 0, 0, fmt::format("input '{}'", info.name)},
                      "it has a dimension '{}' without a size", d.name.empty() ? "?" : d.name);
      }
      shape.push_back(d.value ? *d.value : it->second);
    }
    if (options_.streams) {
      const ir::HostStreamId id = module_.add_stream({info.name, ir::HostStream::Direction::host_to_device, info.dtype, shape});
      values_[info.name] = module_.result(ir::infer_and_add(module_, graph_, "host_load", {}, {{"stream", id}}));
    } else {
      values_[info.name] = variable(info.name, ir::tensor_type(info.dtype, shape), nullptr);
    }
  }

  void output(const std::string& name, ValueId v) {
    if (!options_.streams) return module_.add_output(graph_, v);
    const ir::Type& type = module_.type_of(v);
    const ir::HostStreamId id = module_.add_stream({name, ir::HostStream::Direction::device_to_host, type.dtype, type.shape});
    ir::infer_and_add(module_, graph_, "host_store", {&v, 1}, {{"stream", id}});
  }

  // Weights are variables; integers and scalars are constants.
  void initializer(const std::string& name) {
    const HostTensor& data = model_.initializers.at(name);
    if (ir::is_floating(data.dtype()) && !data.shape().empty()) {
      values_[name] = variable(name, ir::tensor_type(data.dtype(), data.shape()), &data);
    } else {
      know(name, data);
    }
  }

  void know(const std::string& name, HostTensor data) {
    if (!name.empty()) known_.insert_or_assign(name, std::move(data));
  }

  ValueId value(const std::string& name, const SourceLocation& user) {
    if (const auto it = values_.find(name); it != values_.end()) return it->second;
    const auto it = known_.find(name);
    if (it == known_.end()) ir::refuse_at(ErrorClass::value, "onnx-value", user, "'{}' is made by no earlier node", name);
    if (is_weight(name, it->second)) {
      return values_[name] = variable(name, ir::tensor_type(it->second.dtype(), it->second.shape()), &it->second);
    }
    const ir::BlobId blob = module_.add_blob(it->second);
    Node constant;
    constant.outputs = {name};
    Context c(module_, graph_, constant, model_);
    return values_[name] = c.op("constant", {}, {{"data", blob}});
  }

  void node(const Node& n) {
    if (n.op == "Constant") return know(n.outputs.at(0), constant(n));
    if (n.op == "Shape") return know(n.outputs.at(0), shape_of(n));
    if (n.op == "NonZero") return know(n.outputs.at(0), non_zero(n));
    const bool all_known =
        std::all_of(n.inputs.begin(), n.inputs.end(), [&](const std::string& i) { return i.empty() || known_.contains(i); });
    if (all_known && !n.inputs.empty() && compute(n)) return;
    Context c(module_, graph_, n, model_);
    const auto make = [&](std::size_t i) { return value(n.inputs[i], location_of(model_.source, n)); };
    c.make = make;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      const auto it = known_.find(n.inputs[i]);
      c.known.push_back(it == known_.end() ? std::nullopt : std::optional(it->second));
      c.values.push_back(n.inputs[i].empty() || it != known_.end() ? ValueId() : make(i));
    }
    apply(n, c);
    for (std::size_t i = 0; i < std::min(n.outputs.size(), c.results.size()); ++i) values_[n.outputs[i]] = c.results[i];
  }

  static void apply(const Node& n, Context& c) {
    try {
      rule_of(n.op)(c);
    } catch (const ModelError& e) {
      if (e.id() == "onnx-node") throw;
      c.refuse(std::string(without_id(e.what())));
    }
  }

  HostTensor constant(const Node& n) const {
    for (const auto& [name, a] : n.attributes) {
      if (a.tensor) return *a.tensor;
      if (a.integer) return HostTensor::of_ints(ir::DType::int64, {}, std::vector{*a.integer});
      if (a.real) return HostTensor::filled(ir::DType::float32, {}, *a.real);
      if (!a.integers.empty()) return HostTensor::of_ints(ir::DType::int64, {static_cast<std::int64_t>(a.integers.size())}, a.integers);
      if (!a.reals.empty()) {
        const std::vector<double> reals(a.reals.begin(), a.reals.end());
        return HostTensor::of_floats(ir::DType::float32, {static_cast<std::int64_t>(reals.size())}, reals);
      }
    }
    ir::refuse_at(ErrorClass::value, "onnx-node", location_of(model_.source, n), "it has no value");
  }

  HostTensor shape_of(const Node& n) {
    const auto it = known_.find(n.inputs.at(0));
    const ir::Shape shape =
        it != known_.end() ? it->second.shape() : module_.type_of(value(n.inputs[0], location_of(model_.source, n))).shape;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto at = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
    const std::int64_t start = at(n.integer("start", 0)), end = std::max(start, at(n.integer("end", rank)));
    const std::vector<std::int64_t> part(shape.begin() + start, shape.begin() + end);
    return HostTensor::of_ints(ir::DType::int64, {end - start}, part);
  }

  HostTensor non_zero(const Node& n) const {
    const auto it = known_.find(n.inputs.at(0));
    if (it == known_.end())
      ir::refuse_at(ErrorClass::value, "onnx-node", location_of(model_.source, n), "what it takes must be known when the model is read");
    const HostTensor& t = it->second;
    const std::size_t rank = std::max<std::size_t>(1, t.shape().size());
    std::vector<std::vector<std::int64_t>> rows(rank);
    for (std::int64_t i = 0; i < t.elements(); ++i) {
      if (t.number(i) == 0) continue;
      std::int64_t rest = i;
      for (std::size_t d = rank; d-- > 0;) {
        const std::int64_t size = t.shape().empty() ? 1 : t.shape()[d];
        rows[d].push_back(rest % size);
        rest /= size;
      }
    }
    std::vector<std::int64_t> all;
    for (const auto& r : rows) all.insert(all.end(), r.begin(), r.end());
    return HostTensor::of_ints(ir::DType::int64, {static_cast<std::int64_t>(rank), static_cast<std::int64_t>(rows[0].size())}, all);
  }

  // In a module of its own, by the reference interpreter. False: too large to be worth it.
  bool compute(const Node& n) {
    ir::Module m;
    const ir::GraphId g = m.add_graph("main");
    Context c(m, g, n, model_);
    for (const std::string& i : n.inputs) {
      c.known.push_back(i.empty() ? std::nullopt : std::optional(known_.at(i)));
      c.values.emplace_back();
    }
    c.make = [&](std::size_t i) { return c.constant(*c.known[i]); };
    apply(n, c);
    for (ValueId v : c.results) {
      if (ir::elements_of(m.type_of(v).shape) > kMostKnown) return false;
      m.add_output(g, v);
    }
    const std::vector<ir::HostValue> out = ir::Interpreter(m).run_graph(g, {});
    for (std::size_t i = 0; i < std::min(n.outputs.size(), c.results.size()); ++i) know(n.outputs[i], out[i].tensor);
    return true;
  }

  const Model& model_;
  const ImportOptions& options_;
  ir::Module module_;
  ir::GraphId graph_;
  std::map<std::string, ValueId> values_;
  std::map<std::string, HostTensor> known_;
  std::set<std::string> weights_;
};

}  // namespace

ir::Module import_model(const Model& model, const ImportOptions& options) { return Importer(model, options).run(); }

ir::Module import_file(const std::string& path, const ImportOptions& options) {
  std::ifstream file(path, std::ios::binary);
  if (!file) ir::refuse_at(ErrorClass::value, "onnx-file", {path}, "it cannot be read");
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::size_t slash = path.rfind('/');
  const std::string text = std::move(bytes).str();
  return import_model(read(text, slash == std::string::npos ? "." : path.substr(0, slash), path), options);
}

}  // namespace pando::onnx
