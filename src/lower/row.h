// One row says how an op becomes vertices and copies: the file ops/<group>/<name>.cpp, where <name> is the op's.
//
//     extern const Row lower_relu;
//     constexpr Row lower_relu = {.name = "relu", .expression = [](const Expression& e) -> Any { return pe::Relu(e.operand(0)); }};
//
// A row gives an expression (then element-wise ops fuse) or a function that appends to the program. An op whose row of ir/ops has an
// expansion needs none of this.
#pragma once

#include "ir/module.h"
#include "ir/op_row.h"

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <popops/Expr.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pando::lower {

using popops::expr::Any;
class OpLowering;
class Libraries;

// What an element-wise op's expression is made of.
class Expression {
 public:
  Expression(const ir::Module& module, ir::OpId op, std::vector<Any> operands) : module_(module), op_(op), operands_(std::move(operands)) {}
  std::size_t operands() const { return operands_.size(); }
  const Any& operand(std::size_t i) const { return operands_[i]; }
  const ir::Type& operand_type(std::size_t i) const { return module_.type_of(module_.operand(op_, i)); }
  const ir::Type& result_type() const { return module_.type_of(module_.result(op_, 0)); }
  const ir::Attributes& attributes() const { return module_.attributes(op_); }
  const ir::Module& module() const { return module_; }
  ir::OpId op() const { return op_; }
  // A number of operand 0's element type.
  Any number(double value) const;
  Any number(ir::DType dtype, double value) const;
  // Which operand scalar parameter `name` is; nothing where it is an attribute.
  std::optional<std::size_t> scalar_operand(std::string_view name) const;

 private:
  const ir::Module& module_;
  ir::OpId op_;
  std::vector<Any> operands_;
};

// What an element-wise pass reads: a value, or a tensor that a formula has made.
struct Leaf {
  ir::ValueId value;
  poplar::Tensor tensor;
};

// What a row's formula is made of.
class Formula {
 public:
  Formula(std::vector<Any> operands, std::vector<Leaf>& leaves) : operands_(std::move(operands)), leaves_(leaves) {}
  const Any& operand(std::size_t i) const { return operands_[i]; }
  Any tensor(const poplar::Tensor& t);

 private:
  std::vector<Any> operands_;
  std::vector<Leaf>& leaves_;
};

// What a consumer is asked before a variable is made: a tensor of the operand's shape and type as the op likes it best.
struct LayoutRequest {
  const ir::Module& module;
  ir::OpId op;
  std::size_t operand;
  poplar::Graph& graph;
  Libraries& libraries;
  std::string name;
};

// What element-wise ops make of another op's result: expressions over operands (placeholder i + 1 is operand i), of which one is that
// result.
struct Epilogue {
  std::vector<Any> results;
  std::vector<poplar::Tensor> operands;
  std::size_t product = 0;
  // Where the results are to lie; invalid where that is open. Who computes them fills these in.
  std::vector<poplar::Tensor> outs;
};

struct Row {
  std::string_view name;
  // Of ops with `lower`: the result is always a tensor of its own, no operand is given on. Of element-wise ops the expression tells.
  bool makes_tensor = false;
  void (*lower)(OpLowering&) = nullptr;
  // Of ops whose result element-wise ops can be computed with, part by part: does what `lower` does, and the epilogue; the op's own result
  // lies nowhere afterwards. False, with nothing done, where this device or these operands do not allow it.
  bool (*finish)(OpLowering&, Epilogue&) = nullptr;
  Any (*expression)(const Expression&) = nullptr;
  // Element-wise, too, of operands and of tensors that it makes first. Result 0 is what the expression gives, others are the function's.
  Any (*formula)(OpLowering&, Formula&) = nullptr;
  // What is a little less than some number is not nearly the same to it. Its operands are rounded to their type first.
  bool steps = false;
  // An invalid tensor: no wish.
  poplar::Tensor (*layout)(const LayoutRequest&) = nullptr;
  // Whether parts of what lies so may lie on other tiles: none; what lies together on a tile, as a whole; any.
  enum class Parts : std::uint8_t { stay, move, split };
  Parts parts = Parts::stay;
  // Of views that lose nothing: a tensor of the result's shape, seen as operand 0. Of ops whose result lies as operand 0 does:
  // keeps_layout.
  poplar::Tensor (*unview)(const ir::Module&, ir::OpId, const poplar::Tensor& result) = nullptr;
};

inline poplar::Tensor keeps_layout(const ir::Module&, ir::OpId, const poplar::Tensor& result) { return result; }

const Row* find_row(std::string_view name);
inline bool is_elementwise(const Row* row) { return row != nullptr && (row->expression != nullptr || row->formula != nullptr); }

// A tensor of one element as an expression of its value and type.
Any constant_expression(const ir::HostTensor& data);

// Scalar parameters are attributes or operands: those that attribute "scalars" lists are operands behind the ones that are always there.
std::optional<std::size_t> scalar_operand(const ir::Module& module, ir::OpId op, std::string_view name);

// A tensor with what else lies in its storage. Storages are numbered; a view lies in those of what it views.
using StorageId = std::uint32_t;
struct Slot {
  poplar::Tensor tensor;
  std::vector<StorageId> storages;  // ascending
};

}  // namespace pando::lower
