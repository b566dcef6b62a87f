// How each ONNX op is written in ops of the model level.
#pragma once

#include "base/source_location.h"
#include "ir/module.h"
#include "onnx/model.h"

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::onnx {

// A node in the making: its operands, and ops for its results.
class Context {
 public:
  Context(ir::Module& module, ir::GraphId graph, const Node& node, const Model& model)
      : node(node), opset(model.opset), module_(module), graph_(graph), source_(model.source) {}

  const Node& node;
  std::int64_t opset;
  // By operand: what it holds where that is known; the value, where it is there already.
  std::vector<std::optional<ir::HostTensor>> known;
  std::vector<ir::ValueId> values;
  // Makes the value of an operand that is known only.
  std::function<ir::ValueId(std::size_t)> make;
  std::vector<ir::ValueId> results;

  std::size_t operands() const { return values.size(); }
  bool has(std::size_t i) const { return i < values.size() && (values[i].valid() || known[i]); }
  ir::ValueId operand(std::size_t i);
  const ir::Type& type(ir::ValueId v) const { return module_.type_of(v); }
  const ir::Shape& shape(std::size_t i) { return type(operand(i)).shape; }
  // Integers of an operand that must be known.
  ir::Ints integers(std::size_t i) const;
  // The attribute, or (as later opsets say it) operand i; nothing if neither is given.
  std::optional<ir::Ints> axes(std::string_view attribute, std::size_t i) const;
  std::int64_t axis(std::int64_t otherwise, std::size_t rank) const;

  ir::ValueId op(std::string_view name, std::initializer_list<ir::ValueId> operands, const ir::Attributes& attributes = {}) {
    return ops(name, {operands.begin(), operands.size()}, attributes)[0];
  }
  std::vector<ir::ValueId> ops(std::string_view name, std::span<const ir::ValueId> operands, const ir::Attributes& attributes = {});
  ir::ValueId constant(ir::HostTensor data);
  ir::ValueId scalar(ir::DType dtype, double value) { return constant(ir::HostTensor::filled(dtype, {}, value)); }
  ir::ValueId reshape(ir::ValueId v, ir::Shape shape) { return op("reshape", {v}, {{"shape", ir::Ints(std::move(shape))}}); }
  void give(ir::ValueId v) { results.push_back(v); }
  // Names the file and the node.
  [[noreturn]] void refuse(const std::string& message) const;

 private:
  ir::Module& module_;
  ir::GraphId graph_;
  const std::string& source_;
};

// The node in an error: its op and its name, or what it makes where it has none.
SourceLocation location_of(const std::string& source, const Node& node);

using Rule = void (*)(Context&);
// Null: not known.
Rule rule_of(std::string_view op);

}  // namespace pando::onnx
