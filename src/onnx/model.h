// What an ONNX file holds. Field numbers are those of the format's schema.
#pragma once

#include "ir/host_tensor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pando::onnx {

struct Attribute {
  std::optional<std::int64_t> integer;
  std::optional<float> real;
  std::optional<std::string> text;
  std::optional<ir::HostTensor> tensor;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  // A graph (of a branch, a loop), which nothing here reads.
  bool has_graph = false;
};

struct Node {
  std::string name, op, domain;
  // Empty: an optional operand that is not given.
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;

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
  std::vector<Dimension> shape;
};

struct Model {
  // The file's name, for errors.
  std::string source = "model";
  std::int64_t opset = 0;
  std::string graph_name;
  std::vector<Node> nodes;
  std::map<std::string, ir::HostTensor> initializers;
  // In the file's order.
  std::vector<std::string> initializer_names;
  std::vector<ValueInfo> inputs, outputs;
};

// `directory`: where external data lie; `source`: what errors call the model. Refuses (value): bytes that are no model, element types that
// are not known, data that are missing.
Model read(std::string_view bytes, const std::string& directory = ".", const std::string& source = "model");

}  // namespace pando::onnx
