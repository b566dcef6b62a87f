// What an ONNX file holds. Field numbers are those of the format's schema.
#pragma once

#include "ir/host_tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pando::onnx {

struct Graph;

// As the schema numbers them.
enum class AttributeType : std::uint8_t {
  undefined = 0,
  real = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  texts = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};
std::string_view name_of(AttributeType type);

struct Attribute {
  AttributeType type = AttributeType::undefined;
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  // Of a sparse tensor: the dense one.
  std::optional<ir::HostTensor> tensor;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  std::shared_ptr<const Graph> graph;
  // In a function: the attribute of the function whose value it has.
  std::string reference;
};

struct Node {
  std::string name, op, domain;
  // Empty: an optional operand that is not given.
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;

  bool has(const std::string& name) const { return attributes.contains(name); }
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  double real(const std::string& name, double otherwise) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  const std::vector<std::int64_t>* integers(const std::string& name) const;
};

struct Dimension {
  std::optional<std::int64_t> value;
  std::string name;
};

struct ValueInfo {
  std::string name;
  ir::DType dtype = ir::DType::float32;
  // Of a graph inside a node none may be said.
  bool has_type = false;
  std::vector<Dimension> shape;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  // Sparse ones are dense here.
  std::map<std::string, ir::HostTensor> initializers;
  // In the file's order.
  std::vector<std::string> initializer_names;
  std::vector<ValueInfo> inputs, outputs;
};

using Opsets = std::map<std::string, std::int64_t>;

// A function that the model brings along: nodes of its domain and name mean its nodes.
struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  // Attributes that have a value where a node gives none.
  std::map<std::string, Attribute> defaults;
  Opsets opsets;
  std::vector<Node> nodes;
};

struct Model {
  // The file's name, for errors.
  std::string source = "model";
  // By domain; the standard one is "".
  Opsets opsets;
  Graph graph;
  std::vector<Function> functions;
};

// The standard domain has two names; this gives the short one, "".
std::string_view canonical_domain(std::string_view domain);

// An element type of ONNX by its number; nothing where Pando has none such. Its name in ONNX ("bfloat16"), or its number as text.
std::optional<ir::DType> element_type(std::int64_t number);
std::string element_type_name(std::int64_t number);

// `directory`: where external data lie; `source`: what errors call the model. Rejects (value): bytes that are no model, element types that
// are not known, data that are missing or lie outside the folder.
Model read(std::string_view bytes, const std::string& directory = ".", const std::string& source = "model");

}  // namespace pando::onnx
