// One row says how an op of the model level is written in PyTorch. A file of ops/ holds the rows of one family; the build makes a manifest
// of the files, and torch_table() one table of the rows.
//
//     {.op = "softmax_grad", .form = "torch.ops.aten._softmax_backward_data({1}, {0}, {axis}, {:dtype})"}
//
// A form is an expression. In it stand
//
//     {0} {1} ...    operands              {*}         all operands, with commas between
//     {axis}         an attribute, as Python writes it; {axis|0}: what stands there where the op has none
//     {:dtype}       result 0's element type, as torch.float32            {:shape}    its shape, as a tuple
//
// A form of as many lines as the op has results gives each result an expression of its own; of one line, a tuple. Whatever a form calls in
// `functions` is a function of python/functions.py: the program takes those that it needs with it.
#pragma once

#include "ir/module.h"
#include "ir/op_row.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::emit {

// An op as a row sees it.
class Call {
 public:
  // `operands`: what they are called in the program.
  Call(const ir::Module& module, ir::OpId op, std::span<const std::string> operands) : m_(module), op_(op), operands_(operands) {}

  std::size_t operands() const { return operands_.size(); }
  const ir::Type& type(std::size_t operand) const { return m_.type_of(m_.operand(op_, operand)); }
  const ir::Type& result(std::size_t i = 0) const { return m_.type_of(m_.result(op_, i)); }
  const ir::Attributes& attributes() const { return m_.attributes(op_); }
  const ir::Module& module() const { return m_; }
  ir::OpId op() const { return op_; }

  // An operand's text. With `numbers`, element types that torch does not compute with (uint16 to uint64) as int64.
  std::string x(std::size_t operand) const;
  std::string all() const;
  // An attribute as Python writes it; `otherwise` where there is none.
  std::string attribute(std::string_view name, std::string_view otherwise = {}) const;
  // A parameter that is a number or a tensor of one element (ir/shared/scalars.h); `tensors`: operands before the scalars.
  std::string scalar(std::string_view name, std::size_t tensors, std::string_view otherwise) const;

  void set_numbers(bool numbers) { numbers_ = numbers; }

 private:
  const ir::Module& m_;
  ir::OpId op_;
  std::span<const std::string> operands_;
  bool numbers_ = true;
};

struct TorchRow {
  std::string_view op;
  std::string_view form = {};
  // Instead of a form, where the text depends on shapes or attributes.
  std::string (*write)(const Call&) = nullptr;
  // The form where operand 0's memory may take the result: it has the result's shape and type, and nobody reads it afterwards.
  std::string_view in_place = {};
  // Results may lie where operands lie.
  bool shares = false;
  // Moves elements, whatever they are: no arithmetic.
  bool moves = false;
  // Devices meet in it: how. Written by the program's writer.
  ir::Traffic traffic = ir::Traffic::none;
  // Its operands lie on several devices and stay there: each device has the form for its own.
  bool on_each_device = false;
};

// Null: the op is not known here.
const TorchRow* find_torch_row(ir::OpKind kind);
// By family, in the order of the files' names.
struct TorchFamily {
  std::string_view name;
  std::span<const TorchRow> rows;
};
std::span<const TorchFamily> torch_table();

// The expressions of an op: one for each result, or one for all.
std::vector<std::string> expressions(const TorchRow& row, Call& call, bool in_place);
std::string fill_form(std::string_view form, const Call& call);

}  // namespace pando::emit
