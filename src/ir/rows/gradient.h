// What the gradient of an op, and its expansion in terms of other ops, see.
#pragma once

#include "ir/op_row.h"

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace pando::ir {

// Writes into the gradient graph. Implemented by transform/autodiff.
class Gradient {
 public:
  virtual ~Gradient() = default;
  virtual const Module& module() const = 0;
  // The forward op.
  virtual OpId forward() const = 0;
  virtual const Attributes& attributes() const = 0;
  virtual std::size_t operands() const = 0;
  // Operand and result of the forward op, as values of the gradient graph.
  virtual ValueId operand(std::size_t i) = 0;
  virtual ValueId result(std::size_t i = 0) = 0;
  virtual const Type& operand_type(std::size_t i) const = 0;
  virtual const Type& result_type(std::size_t i = 0) const = 0;
  // The gradient of result i; zeros where none came.
  virtual ValueId grad(std::size_t i = 0) = 0;
  // Whether the gradient of operand i is of use.
  virtual bool wants(std::size_t i) const = 0;
  // The gradient of operand i; it must have the operand's type. At most once for an operand.
  virtual void give(std::size_t i, ValueId gradient) = 0;
  // Appends an op to the gradient graph; its first result.
  virtual ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) = 0;
  virtual std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {},
                                   std::span<const GraphId> graphs = {}) = 0;
  // A constant scalar of an element type.
  virtual ValueId scalar(DType dtype, double value) = 0;
  virtual const Type& type_of(ValueId v) const = 0;
  // Sums a gradient over what broadcasting to `shape` repeated.
  ValueId reduced_to(ValueId gradient, const Shape& shape);
};

// Writes what an op means in terms of other ops.
class Expansion {
 public:
  virtual ~Expansion() = default;
  virtual const Attributes& attributes() const = 0;
  virtual std::size_t operands() const = 0;
  virtual ValueId operand(std::size_t i) const = 0;
  virtual const Type& type_of(ValueId v) const = 0;
  virtual const Type& result_type(std::size_t i = 0) const = 0;
  virtual ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) = 0;
  virtual std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {}) = 0;
  virtual ValueId scalar(DType dtype, double value) = 0;
  virtual void result(ValueId v) = 0;
};

// Writes an op that takes a mean over what may be cut as sums, times a factor that all parts have.
class MeanExpansion : public Expansion {
 public:
  // 1 / (labels that are not `ignored`, at least 1), of all samples, whichever of them are here.
  virtual ValueId share_of_counted(ValueId labels, std::int64_t ignored, DType dtype) = 0;
};

}  // namespace pando::ir
