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
class Lowering;
class Formula;

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

// What a consumer is asked before a variable is made: a tensor of the operand's shape and type as the op likes it best.
struct LayoutRequest {
  const ir::Module& module;
  ir::OpId op;
  std::size_t operand;
  poplar::Graph& graph;
  Lowering& lowering;
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

// Scalar parameters are attributes or operands: those that attribute "scalars" lists are operands behind the ones that are always there.
std::optional<std::size_t> scalar_operand(const ir::Module& module, ir::OpId op, std::string_view name);

// A tensor with what else lies in its storage. Storages are numbered; a view lies in those of what it views.
using StorageId = std::uint32_t;
struct Slot {
  poplar::Tensor tensor;
  std::vector<StorageId> storages;  // ascending
};

// What a row's function sees: one op, in a place in the program.
class OpLowering {
 public:
  OpLowering(Lowering& lowering, ir::OpId op);

  Lowering& lowering() { return lowering_; }
  const ir::Module& module() const;
  ir::OpId op() const { return op_; }
  const ir::Attributes& attributes() const { return module().attributes(op_); }
  bool in_place() const { return module().op(op_).in_place; }
  // The tiles of the op's place.
  poplar::Graph& graph() { return graph_; }
  poplar::program::Sequence& program();
  // For whoever reads a dump or a profile.
  std::string name() const;

  std::size_t operands() const { return module().operands(op_).size(); }
  std::size_t results() const { return module().results(op_).size(); }
  const ir::Type& operand_type(std::size_t i) const { return module().type_of(module().operand(op_, i)); }
  const ir::Type& result_type(std::size_t i = 0) const { return module().type_of(module().result(op_, i)); }
  // Which trailing operand scalar parameter `name` is; nothing where it is an attribute.
  std::optional<std::size_t> scalar_operand(std::string_view name) const;
  // The scalar parameter as a tensor of one element, float or half as operand 0 is (integers: its type).
  poplar::Tensor scalar(std::string_view name, double otherwise = 0);

  // Of the operand's shape, at the op's place unless the op is one that moves. Computes what was put off.
  poplar::Tensor operand(std::size_t i);
  // Storage that holds the operand's value and may be overwritten; then result_taken(r, i) makes it result r.
  poplar::Tensor take(std::size_t i);
  // The same, for an op that does not read the old value.
  poplar::Tensor take_undefined(std::size_t i);
  // A new variable for result i, laid out as its consumers like it.
  poplar::Tensor fresh(std::size_t i = 0);

  // A tensor that the op has made. Takes the result's shape (as many elements).
  void result(std::size_t i, poplar::Tensor t);
  // A view of operands, computed without arithmetic.
  void result_view(std::size_t i, poplar::Tensor t);
  void result_taken(std::size_t i, std::size_t operand);
  const Slot& taken(std::size_t operand) const { return *taken_[operand]; }

 private:
  poplar::Tensor keep(std::size_t i, Slot slot);
  bool is_read_too(std::size_t i) const;
  // Whether the op works on the operand where that lies.
  bool lies_here(std::size_t i) const;

  Lowering& lowering_;
  ir::OpId op_;
  poplar::Graph& graph_;
  // Where operands are read; those that lie at another place than the op have a copy.
  const Slot& slot(std::size_t i);

  std::vector<std::optional<Slot>> taken_, copied_;
};

}  // namespace pando::lower
