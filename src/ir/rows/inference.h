// What the type rule of an op sees, and rules that many rows share.
#pragma once

#include "ir/op_row.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

namespace pando::ir {

class Inference {
 public:
  Inference(const Module& module, const OpRow& row, std::span<const TypeId> operands, const Attributes& attributes,
            std::span<const GraphId> graphs, bool in_place)
      : module_(module), row_(row), operands_(operands), attributes_(attributes), graphs_(graphs), in_place_(in_place) {}

  const Module& module() const { return module_; }
  const OpRow& row() const { return row_; }
  bool in_place() const { return in_place_; }
  std::size_t operands() const { return operands_.size(); }
  const Type& operand(std::size_t i) const { return module_.type(operands_[i]); }
  const Shape& shape(std::size_t i) const { return operand(i).shape; }
  DType dtype(std::size_t i) const { return operand(i).dtype; }
  const Attributes& attributes() const { return attributes_; }
  GraphId graph(std::size_t i = 0) const { return graphs_[i]; }
  std::span<const GraphId> graphs() const { return graphs_; }

  // Appends a result. Its place is the operands' unless the rule has set one.
  void result(DType dtype, Shape shape) { results_.push_back(tensor_type(dtype, std::move(shape))); }
  void result(Type type) { results_.push_back(std::move(type)); }
  std::vector<Type>& results() { return results_; }
  const std::vector<Type>& results() const { return results_; }

  // An axis of operand `i`, negative ones counted from the end; rejected out of range.
  std::int64_t axis(std::int64_t axis, std::size_t operand = 0) const;
  // The same for a list; rejects duplicates.
  Ints axes(const Ints& axes, std::size_t operand = 0) const;

  // Throws ModelError (popart) that names the op, what was found and the shapes of all operands.
  template <class... Args>
  [[noreturn]] void reject(std::string_view id, fmt::format_string<Args...> format, Args&&... args) const {
    reject_text(id, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void reject_text(std::string_view id, const std::string& message) const;

 private:
  const Module& module_;
  const OpRow& row_;
  std::span<const TypeId> operands_;
  const Attributes& attributes_;
  std::span<const GraphId> graphs_;
  bool in_place_;
  std::vector<Type> results_;
};

// Type rules that many rows share.
void same_as_first(Inference&);        // result 0 has the type of operand 0
void broadcast_same_type(Inference&);  // NumPy broadcasting; all operands of one element type
void broadcast_to_bool(Inference&);    // the same, result bool
Shape broadcast_shape(const Inference&, const Shape& a, const Shape& b);

}  // namespace pando::ir
