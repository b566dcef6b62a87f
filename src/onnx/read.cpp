#include "ir/reject_at.h"
#include "onnx/model.h"
#include "onnx/tensor_reader.h"
#include "onnx/wire.h"

#include <algorithm>
#include <array>

namespace pando::onnx {

namespace {

using ir::DType;
using ir::ErrorClass;
using ir::HostTensor;

// Graphs inside nodes inside graphs: more than this is no model that anybody wrote.
constexpr int kDeepestGraph = 32;

// By ONNX's number.
constexpr std::array<std::string_view, 27> kElementTypes = {
    "undefined",      "float",      "uint8",          "int8",   "uint16", "int16",      "int32",      "int64",    "string",
    "bool",           "float16",    "double",         "uint32", "uint64", "complex64",  "complex128", "bfloat16", "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",  "int4",   "float4e2m1", "float8e8m0", "uint2",    "int2"};

// domain, version
std::pair<std::string, std::int64_t> read_opset(std::string_view bytes) {
  Message m(bytes);
  std::string domain;
  std::int64_t version = 0;
  while (m.next()) {
    if (m.field() == 1) domain = m.text();
    if (m.field() == 2) version = m.integer();
  }
  return {std::string(canonical_domain(domain)), version};
}

class Reader {
 public:
  explicit Reader(std::string directory) : directory_(std::move(directory)) {}

  Model run(std::string_view bytes) {
    Message m(bytes);
    Model model;
    bool has_graph = false;
    while (m.next()) {
      if (m.field() == 7) {
        model.graph = graph(m.bytes());
        has_graph = true;
      }
      if (m.field() == 8) model.opsets.insert(read_opset(m.bytes()));
      if (m.field() == 25) model.functions.push_back(function(m.bytes()));
    }
    if (!has_graph) ir::reject(ErrorClass::value, "onnx-file", "this is not an ONNX file: it has no graph");
    return model;
  }

 private:
  Graph graph(std::string_view bytes) {
    if (++depth_ > kDeepestGraph)
      ir::reject(ErrorClass::value, "onnx-file", "graphs lie inside one another more than {} deep", kDeepestGraph);
    Message m(bytes);
    Graph g;
    while (m.next()) {
      switch (m.field()) {
        case 1: g.nodes.push_back(node(m.bytes())); break;
        case 2: g.name = m.text(); break;
        case 5: initializer(g, read_tensor(m.bytes(), directory_)); break;
        case 11: g.inputs.push_back(value(m.bytes())); break;
        case 12: g.outputs.push_back(value(m.bytes())); break;
        case 15: initializer(g, read_sparse_tensor(m.bytes(), directory_)); break;
        default: break;
      }
    }
    --depth_;
    return g;
  }

  static void initializer(Graph& g, std::pair<std::string, HostTensor> named) {
    if (named.first.empty()) ir::reject(ErrorClass::value, "onnx-data", "data of the graph have no name");
    if (g.initializers.contains(named.first)) ir::reject(ErrorClass::value, "onnx-value", "'{}' has data twice", named.first);
    g.initializer_names.push_back(named.first);
    g.initializers.insert(std::move(named));
  }

  Function function(std::string_view bytes) {
    Message m(bytes);
    Function f;
    while (m.next()) {
      switch (m.field()) {
        case 1: f.name = m.text(); break;
        case 4: f.inputs.push_back(m.text()); break;
        case 5: f.outputs.push_back(m.text()); break;
        case 6: f.attributes.push_back(m.text()); break;
        case 7: f.nodes.push_back(node(m.bytes())); break;
        case 9: f.opsets.insert(read_opset(m.bytes())); break;
        case 10: f.domain = canonical_domain(m.text()); break;
        case 11: f.defaults.insert(attribute(m.bytes())); break;
        case 13: f.overload = m.text(); break;
        default: break;
      }
    }
    return f;
  }

  Node node(std::string_view bytes) {
    Message m(bytes);
    Node n;
    while (m.next()) {
      switch (m.field()) {
        case 1: n.inputs.push_back(m.text()); break;
        case 2: n.outputs.push_back(m.text()); break;
        case 3: n.name = m.text(); break;
        case 4: n.op = m.text(); break;
        case 5: {
          auto named = attribute(m.bytes());
          const auto [it, fresh] = n.attributes.insert(std::move(named));
          if (!fresh) ir::reject(ErrorClass::value, "onnx-node", "a node has the attribute '{}' twice", it->first);
          break;
        }
        case 7: n.domain = canonical_domain(m.text()); break;
        default: break;
      }
    }
    return n;
  }

  std::pair<std::string, Attribute> attribute(std::string_view bytes) {
    Message m(bytes);
    std::string name;
    Attribute a;
    AttributeType found = AttributeType::undefined;
    while (m.next()) {
      const std::uint32_t field = m.field();
      // Fields with values have other numbers than the types have.
      static constexpr std::array<AttributeType, 12> kTypeOfField = {
          AttributeType::undefined, AttributeType::undefined, AttributeType::real,    AttributeType::integer,
          AttributeType::text,      AttributeType::tensor,    AttributeType::graph,   AttributeType::reals,
          AttributeType::integers,  AttributeType::texts,     AttributeType::tensors, AttributeType::graphs};
      if (field < kTypeOfField.size() && kTypeOfField[field] != AttributeType::undefined) found = kTypeOfField[field];
      switch (field) {
        case 1: name = m.text(); break;
        case 2: a.real = m.real(); break;
        case 3: a.integer = m.integer(); break;
        case 4: a.text = m.text(); break;
        case 5: a.tensor = read_tensor(m.bytes(), directory_).second; break;
        case 6: a.graph = std::make_shared<const Graph>(graph(m.bytes())); break;
        case 7: m.append(a.reals); break;
        case 8: m.append(a.integers); break;
        case 9: a.texts.push_back(m.text()); break;
        case 20: {
          const std::int64_t type = m.integer();
          if (type < 0 || type > 14)
            ir::reject(ErrorClass::value, "onnx-node", "an attribute has the type {} of ONNX, which is not known", type);
          a.type = static_cast<AttributeType>(type);
          break;
        }
        case 21: a.reference = m.text(); break;
        case 22:
          a.tensor = read_sparse_tensor(m.bytes(), directory_).second;
          found = AttributeType::sparse_tensor;
          break;
        default: break;
      }
    }
    // Old files do not say the type.
    if (a.type == AttributeType::undefined) a.type = found;
    return {std::move(name), std::move(a)};
  }

  static ValueInfo value(std::string_view bytes) {
    Message m(bytes);
    ValueInfo v;
    std::string_view type;
    while (m.next()) {
      if (m.field() == 1) v.name = m.text();
      if (m.field() == 2) type = m.bytes();
    }
    Message t(type);
    while (t.next()) {
      // A denotation says what a tensor is for.
      if (t.field() == 6) continue;
      if (t.field() != 1)
        ir::reject(ErrorClass::value, "onnx-element-type", "'{}' is a sequence, a map or an optional value; a tensor is expected", v.name);
      tensor_type(t.bytes(), v);
    }
    return v;
  }

  static void tensor_type(std::string_view bytes, ValueInfo& v) {
    Message m(bytes);
    while (m.next()) {
      if (m.field() == 1) {
        const auto t = element_type(m.integer());
        if (!t)
          ir::reject(ErrorClass::value, "onnx-element-type", "'{}' has the element type {}, which Pando does not have", v.name,
                     element_type_name(m.integer()));
        v.dtype = *t;
        v.has_type = true;
      }
      if (m.field() != 2) continue;
      Message shape(m.bytes());
      while (shape.next()) {
        if (shape.field() != 1) continue;
        Message dim(shape.bytes());
        Dimension d;
        while (dim.next()) {
          if (dim.field() == 1) d.value = dim.integer();
          if (dim.field() == 2) d.name = dim.text();
        }
        v.shape.push_back(std::move(d));
      }
    }
  }

  std::string directory_;
  int depth_ = 0;
};

}  // namespace

std::string_view name_of(AttributeType type) {
  static constexpr std::array<std::string_view, 15> kNames = {"nothing", "a float",         "an integer",     "a text", "a tensor",
                                                              "a graph", "floats",          "integers",       "texts",  "tensors",
                                                              "graphs",  "a sparse tensor", "sparse tensors", "a type", "types"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

std::optional<DType> element_type(std::int64_t number) {
  switch (number) {
    case 1: return DType::float32;
    case 2: return DType::uint8;
    case 3: return DType::int8;
    case 4: return DType::uint16;
    case 5: return DType::int16;
    case 6: return DType::int32;
    case 7: return DType::int64;
    case 9: return DType::boolean;
    case 10: return DType::float16;
    case 11: return DType::float64;
    case 12: return DType::uint32;
    case 13: return DType::uint64;
    default: return std::nullopt;
  }
}

std::string element_type_name(std::int64_t number) {
  if (number >= 0 && number < static_cast<std::int64_t>(kElementTypes.size()))
    return std::string(kElementTypes[static_cast<std::size_t>(number)]);
  return fmt::format("number {}", number);
}

std::int64_t Node::integer(const std::string& name, std::int64_t otherwise) const {
  const auto it = attributes.find(name);
  return it != attributes.end() ? it->second.integer : otherwise;
}
double Node::real(const std::string& name, double otherwise) const {
  const auto it = attributes.find(name);
  return it != attributes.end() ? static_cast<double>(it->second.real) : otherwise;
}
std::string Node::text(const std::string& name, const std::string& otherwise) const {
  const auto it = attributes.find(name);
  return it != attributes.end() ? it->second.text : otherwise;
}
const std::vector<std::int64_t>* Node::integers(const std::string& name) const {
  const auto it = attributes.find(name);
  return it != attributes.end() ? &it->second.integers : nullptr;
}

// What is wrong inside a message is said where it is found; which file that was, here.
Model read(std::string_view bytes, const std::string& directory, const std::string& source) {
  try {
    Model model = Reader(directory).run(bytes);
    model.source = source;
    return model;
  } catch (const ModelError& e) {
    if (!e.location().empty()) throw;
    ir::reject_at(e.kind(), e.id(), {source}, "{}", without_id(e.what()));
  }
}

}  // namespace pando::onnx
