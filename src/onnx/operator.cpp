#include "onnx/operator.h"

#include "ir/reject_at.h"
#include "ir/semantics/infer.h"
#include "onnx/tensor_reader.h"

#include <cmath>
#include <set>

namespace pando::onnx {

#define X(name) extern const Operator onnx_##name;
#include "onnx_manifest.inc"
#undef X

ValueId Context::operand(std::size_t i) {
  if (!has(i)) reject(fmt::format("operand {} is missing", i));
  if (!values[i].valid()) values[i] = make(i);
  return values[i];
}

Shape Context::shape_of(std::size_t i) const {
  if (!has(i)) reject(fmt::format("operand {} is missing", i));
  if (initial[i] != nullptr) return initial[i]->shape();
  return known[i] ? known[i]->shape() : module_.type_of(values[i]).shape;
}

DType Context::dtype_of(std::size_t i) const {
  if (!has(i)) reject(fmt::format("operand {} is missing", i));
  if (initial[i] != nullptr) return initial[i]->dtype();
  return known[i] ? known[i]->dtype() : module_.type_of(values[i]).dtype;
}

std::string Context::operand_text(std::size_t i) const {
  const std::string name = i < node.inputs.size() ? node.inputs[i] : std::string();
  return fmt::format("operand {} ('{}')", i, name);
}

const HostTensor& Context::data(std::size_t i) const {
  if (!has(i)) reject(fmt::format("operand {} is missing", i));
  if (!has_data(i)) {
    std::string list;
    for (const std::string& name : i < inputs.size() && inputs[i] ? *inputs[i] : std::set<std::string>())
      list += fmt::format("{}'{}': ...", list.empty() ? "" : ", ", name);
    const std::string way = list.empty() ? "" : fmt::format("; what it follows from can be given: load_onnx(..., values={{{}}})", list);
    reject(fmt::format("{} must be known when the model is read{}", operand_text(i), way));
  }
  return known[i] ? *known[i] : *initial[i];
}

Ints Context::integers(std::size_t i) const {
  const HostTensor& t = data(i);
  if (ir::is_floating(t.dtype()) || ir::is_complex(t.dtype()))
    reject(fmt::format("{} has elements of {}; integers are expected", operand_text(i), ir::name_of(t.dtype())));
  Ints all;
  for (std::int64_t k = 0; k < t.elements(); ++k) all.push_back(t.integer(k));
  return all;
}

std::int64_t Context::integer(std::size_t i) const {
  const Ints all = integers(i);
  if (all.size() != 1) reject(fmt::format("{} has {} elements; one is expected", operand_text(i), all.size()));
  return all[0];
}

double Context::number(std::size_t i) const {
  const HostTensor& t = data(i);
  if (t.elements() != 1) reject(fmt::format("{} has {} elements; one is expected", operand_text(i), t.elements()));
  return t.number(0);
}

bool Context::flag(const std::string& name, bool otherwise) const { return ranged(name, otherwise ? 1 : 0, 0, 1) != 0; }

std::int64_t Context::ranged(const std::string& name, std::int64_t otherwise, std::int64_t low, std::int64_t high) const {
  const std::int64_t v = integer(name, otherwise);
  if (v < low || v > high) reject(fmt::format("attribute '{}' is {}; {} to {} are possible", name, v, low, high));
  return v;
}

std::string Context::word(const std::string& name, const std::string& otherwise, std::initializer_list<std::string_view> words) const {
  std::string v = text(name, otherwise);
  if (std::find(words.begin(), words.end(), v) == words.end()) {
    std::string list;
    for (std::string_view w : words) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", w);
    reject(fmt::format("attribute '{}' is '{}'; {} are possible", name, v, list));
  }
  return v;
}

std::optional<Ints> Context::list(const std::string& name, std::size_t size, std::int64_t least) const {
  const auto* all = node.integers(name);
  if (all == nullptr) return std::nullopt;
  if (all->size() != size) reject(fmt::format("attribute '{}' has {} numbers; {} are expected", name, all->size(), size));
  for (std::int64_t v : *all) {
    // Nothing that is larger could be of a tensor, and sums of these do not overflow.
    if (v < least || v > kMostElements) reject(fmt::format("attribute '{}' has {}; {} to {} are possible", name, v, least, kMostElements));
  }
  return *all;
}

std::optional<Ints> Context::either(const std::string& attribute, std::size_t i) const {
  if (const auto* list = node.integers(attribute)) return *list;
  if (has(i)) return integers(i);
  return std::nullopt;
}

std::optional<Ints> Context::axes(const std::string& attribute, std::size_t i, std::size_t rank) const {
  std::optional<Ints> all = either(attribute, i);
  if (!all) return all;
  std::set<std::int64_t> seen;
  for (std::int64_t& a : *all) {
    a = axis_in(a, rank);
    if (!seen.insert(a).second) reject(fmt::format("axis {} is named twice", a));
  }
  return all;
}

std::int64_t Context::axis_in(std::int64_t axis, std::size_t rank, bool ends) const {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n + (ends ? 1 : 0)) reject(fmt::format("axis {} is out of range for {} dimensions", axis, rank));
  return axis < 0 ? axis + n : axis;
}

DType Context::dtype_attribute(const std::string& name, DType otherwise) const {
  if (!has(name)) return otherwise;
  const std::int64_t number = integer(name, 0);
  const auto t = element_type(number);
  if (!t) reject(fmt::format("attribute '{}' is the element type {}, which Pando does not have", name, element_type_name(number)));
  return *t;
}

Values Context::ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) {
  const std::string base = node.outputs.empty() || node.outputs[0].empty() ? std::string(name) : node.outputs[0];
  const ir::OpId o = ir::infer_and_add(module_, graph_, name, operands, attributes, {}, false, {}, base);
  for (ValueId v : module_.results(o)) check_shape(module_.type_of(v).shape);
  return {module_.results(o).begin(), module_.results(o).end()};
}

ValueId Context::constant(HostTensor data) {
  const ir::BlobId blob = module_.add_blob(std::move(data));
  return op("constant", {}, {{"data", blob}});
}

void Context::check_shape(const Shape& shape) const { checked_elements(shape, node.outputs.empty() ? node.op : node.outputs[0]); }

void Context::reject_results_from(std::size_t first, std::string_view why) const {
  for (std::size_t i = first; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) reject(fmt::format("its result {} ('{}') is wanted, {}", i, node.outputs[i], why));
  }
}

SourceLocation location_of(const std::string& source, const Node& node) {
  return {source, 0, 0, fmt::format("{} '{}'", node.op, node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name)};
}

void Context::reject(const std::string& message) const {
  ir::reject_at(ir::ErrorClass::value, "onnx-node", location_of(source_, node), "{}", message);
}

namespace {

std::string_view trimmed(std::string_view t) {
  while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
  while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
  return t;
}

std::vector<std::string_view> split_at_commas(std::string_view t) {
  std::vector<std::string_view> all;
  for (t = trimmed(t); !t.empty();) {
    const std::size_t comma = std::min(t.find(','), t.size());
    all.push_back(trimmed(t.substr(0, comma)));
    t = trimmed(t.substr(std::min(comma + 1, t.size())));
  }
  return all;
}

bool take_suffix(std::string_view& t, std::string_view suffix) {
  if (!t.ends_with(suffix)) return false;
  t.remove_suffix(suffix.size());
  return true;
}

std::vector<Signature::Parameter> parse_parameters(std::string_view t) {
  std::vector<Signature::Parameter> all;
  for (std::string_view p : split_at_commas(t)) {
    const bool variadic = take_suffix(p, "..."), optional = take_suffix(p, "?");
    all.push_back({std::string(p), optional, variadic});
  }
  return all;
}

AttributeType kind_of_attribute(std::string_view word) {
  static constexpr std::pair<std::string_view, AttributeType> kKinds[] = {
      {"int", AttributeType::integer},   {"float", AttributeType::real},           {"text", AttributeType::text},
      {"ints", AttributeType::integers}, {"floats", AttributeType::reals},         {"texts", AttributeType::texts},
      {"tensor", AttributeType::tensor}, {"sparse", AttributeType::sparse_tensor}, {"graph", AttributeType::graph}};
  for (const auto& [name, kind] : kKinds) {
    if (name == word) return kind;
  }
  return AttributeType::undefined;
}

const std::vector<KnownOperator>& operators() {
  static const std::vector<KnownOperator> all = [] {
    std::vector<KnownOperator> rows;
    for (const Operator* row : {
#define X(name) &onnx_##name,
#include "onnx_manifest.inc"
#undef X
         }) {
      rows.push_back({row, parse_signature(row->signature)});
    }
    std::sort(rows.begin(), rows.end(), [](const KnownOperator& a, const KnownOperator& b) {
      return std::tie(a.signature.domain, a.signature.name) < std::tie(b.signature.domain, b.signature.name);
    });
    return rows;
  }();
  return all;
}

[[noreturn]] void reject_node(const Node& node, const std::string& source, const std::string& message) {
  ir::reject_at(ir::ErrorClass::value, "onnx-node", location_of(source, node), "{}", message);
}

void check_operand_counts(const Node& node, const Signature& s, const std::string& source) {
  const bool many = !s.operands.empty() && s.operands.back().variadic;
  if (node.inputs.size() > s.operands.size() && !many)
    reject_node(node, source, fmt::format("it has {} operands; {} are the most", node.inputs.size(), s.operands.size()));
  for (std::size_t i = 0; i < s.operands.size(); ++i) {
    const bool there = i < node.inputs.size() && !node.inputs[i].empty();
    if (!there && !s.operands[i].optional) reject_node(node, source, fmt::format("operand {} ('{}') is missing", i, s.operands[i].name));
  }
}

void check_result_counts(const Node& node, const Signature& s, const std::string& source) {
  const bool many = !s.results.empty() && s.results.back().variadic;
  if (node.outputs.size() > s.results.size() && !many)
    reject_node(node, source, fmt::format("it has {} results; {} are the most", node.outputs.size(), s.results.size()));
  for (std::size_t i = 0; i < s.results.size(); ++i) {
    if (i >= node.outputs.size() && !s.results[i].optional)
      reject_node(node, source, fmt::format("it has {} results; '{}' is missing", node.outputs.size(), s.results[i].name));
  }
}

void check_node_attributes(const Node& node, const Signature& s, const std::string& source) {
  for (const auto& [name, a] : node.attributes) {
    const auto it = std::find_if(s.attributes.begin(), s.attributes.end(), [&](const auto& p) { return p.name == name; });
    if (it == s.attributes.end()) reject_node(node, source, fmt::format("attribute '{}' is not known", name));
    if (it->type != a.type)
      reject_node(node, source, fmt::format("attribute '{}' is {}; {} is expected", name, name_of(a.type), name_of(it->type)));
    if (a.type == AttributeType::real && std::isnan(a.real)) reject_node(node, source, fmt::format("attribute '{}' is not a number", name));
    if ((a.type == AttributeType::tensor || a.type == AttributeType::sparse_tensor) && !a.tensor)
      reject_node(node, source, fmt::format("attribute '{}' has no tensor", name));
    if (a.type == AttributeType::graph && !a.graph) reject_node(node, source, fmt::format("attribute '{}' has no graph", name));
  }
  for (const auto& p : s.attributes) {
    if (p.required && !node.has(p.name)) reject_node(node, source, fmt::format("attribute '{}' is missing", p.name));
  }
}

}  // namespace

Signature parse_signature(std::string_view text) {
  Signature s;
  const std::size_t open = text.find('('), close = text.rfind(')'), arrow = text.rfind("->");
  std::string_view name = text.substr(0, open);
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) {
    s.domain = name.substr(0, dot);
    name.remove_prefix(dot + 1);
  }
  s.name = name;
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  const std::size_t semicolon = std::min(inside.find(';'), inside.size());
  s.operands = parse_parameters(inside.substr(0, semicolon));
  for (std::string_view a : split_at_commas(inside.substr(std::min(semicolon + 1, inside.size())))) {
    const std::size_t colon = a.find(':');
    std::string_view parameter = a.substr(0, colon);
    const bool required = take_suffix(parameter, "!");
    s.attributes.push_back({std::string(parameter), kind_of_attribute(trimmed(a.substr(colon + 1))), required});
  }
  s.results = parse_parameters(text.substr(arrow + 2));
  return s;
}

std::span<const KnownOperator> operator_table() { return operators(); }

const KnownOperator* find_operator(std::string_view domain, std::string_view name) {
  const auto& all = operators();
  const std::pair<std::string_view, std::string_view> key(domain, name);
  const auto of = [](const KnownOperator& o) {
    return std::pair<std::string_view, std::string_view>(o.signature.domain, o.signature.name);
  };
  const auto it = std::lower_bound(all.begin(), all.end(), key, [&](const KnownOperator& o, const auto& k) { return of(o) < k; });
  return it == all.end() || of(*it) != std::pair(domain, name) ? nullptr : &*it;
}

void check_node(const Node& node, const Signature& signature, const std::string& source) {
  check_operand_counts(node, signature, source);
  check_result_counts(node, signature, source);
  check_node_attributes(node, signature, source);
}

Attributes same_attributes(const Context& c) {
  Attributes all;
  for (const auto& [name, a] : c.node.attributes) {
    switch (a.type) {
      case AttributeType::real: all.set(name, static_cast<double>(a.real)); break;
      case AttributeType::integer: all.set(name, a.integer); break;
      case AttributeType::text: all.set(name, a.text); break;
      case AttributeType::integers: all.set(name, Ints(a.integers)); break;
      default: c.reject(fmt::format("attribute '{}' is not understood", name));
    }
  }
  return all;
}

}  // namespace pando::onnx
