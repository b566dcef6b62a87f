// What rows of element-wise ops are written with.
#pragma once

#include "lower/row.h"

#include <popops/Expr.hpp>

namespace pando::lower {

namespace pe = popops::expr;

// Operands and scalar parameters whose element types may differ: all in one type, that of operand 0 if all have it, else float; `done`
// rounds to the result's.
class Mixed {
 public:
  explicit Mixed(const Expression& e);
  Any operand(std::size_t i) const;
  // A parameter, as attribute or operand.
  Any scalar(std::string_view name, double otherwise = 0) const;
  // 1 - the parameter. Of an attribute it is rounded once.
  Any complement(std::string_view name) const;
  bool has_scalar(std::string_view name) const { return e_.scalar_operand(name) || e_.attributes().has(name); }
  Any number(double value) const { return e_.number(work_, value); }
  Any done(const Any& x) const;

 private:
  Any as_work(const Any& x, ir::DType from) const;
  const Expression& e_;
  ir::DType work_;
};

}  // namespace pando::lower
