// Arithmetic on values of a gradient or an expansion, spelled as arithmetic: `dy * (1.0 - y * y)` appends mul, sub and mul.
#pragma once

#include "ir/rows/define.h"

#include <string_view>

namespace pando::ir {

template <class Writer>
struct Formula {
  Writer* writer;
  ValueId value;

  operator ValueId() const { return value; }
  DType dtype() const { return writer->type_of(value).dtype; }
  // A number of this value's element type.
  Formula number(double v) const { return {writer, writer->scalar(dtype(), v)}; }
  Formula op(std::string_view name, const Attributes& attributes = {}) const { return {writer, writer->op(name, {value}, attributes)}; }
  Formula op(std::string_view name, ValueId other) const { return {writer, writer->op(name, {value, other})}; }

  friend Formula operator+(const Formula& a, const Formula& b) { return a.op("add", b); }
  friend Formula operator-(const Formula& a, const Formula& b) { return a.op("sub", b); }
  friend Formula operator*(const Formula& a, const Formula& b) { return a.op("mul", b); }
  friend Formula operator/(const Formula& a, const Formula& b) { return a.op("div", b); }
  friend Formula operator+(const Formula& a, double b) { return a + a.number(b); }
  friend Formula operator-(const Formula& a, double b) { return a - a.number(b); }
  friend Formula operator*(const Formula& a, double b) { return a * a.number(b); }
  friend Formula operator/(const Formula& a, double b) { return a / a.number(b); }
  friend Formula operator+(double a, const Formula& b) { return b.number(a) + b; }
  friend Formula operator-(double a, const Formula& b) { return b.number(a) - b; }
  friend Formula operator*(double a, const Formula& b) { return b.number(a) * b; }
  friend Formula operator/(double a, const Formula& b) { return b.number(a) / b; }
  Formula operator-() const { return op("negate"); }
};

template <class Writer>
Formula<Writer> formula(Writer& w, ValueId v) {
  return {&w, v};
}

// yes where the condition holds, else no.
template <class Writer>
Formula<Writer> select(Writer& w, ValueId condition, ValueId yes, ValueId no) {
  return {&w, w.op("where", {condition, yes, no})};
}

}  // namespace pando::ir
