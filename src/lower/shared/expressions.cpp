#include "lower/shared/expressions.h"

#include "lower/terms/element_types.h"

#include <cmath>

namespace pando::lower {

using ir::DType;

namespace {

// Numbers that an integer type cannot hold make the whole computation one of floats.
bool fits(const Expression& e, DType type) {
  if (ir::is_floating(type)) return true;
  for (const auto& [name, value] : e.attributes().items()) {
    if (const double* v = std::get_if<double>(&value); v && *v != std::floor(*v)) return false;
  }
  return true;
}

}  // namespace

Mixed::Mixed(const Expression& e) : e_(e), work_(e.operand_type(0).dtype) {
  bool same = fits(e, work_);
  for (std::size_t i = 1; i < e.operands(); ++i) same = same && e.operand_type(i).dtype == work_;
  if (!same) work_ = DType::float32;
}

Any Mixed::as_work(const Any& x, DType from) const {
  if (from == work_) return x;
  return pe::Cast(x, element_type(work_));
}

Any Mixed::operand(std::size_t i) const { return as_work(e_.operand(i), e_.operand_type(i).dtype); }

Any Mixed::scalar(std::string_view name, double otherwise) const {
  if (const auto i = e_.scalar_operand(name)) return operand(*i);
  return number(e_.attributes().number(name, otherwise));
}

Any Mixed::complement(std::string_view name) const {
  if (const auto i = e_.scalar_operand(name)) return pe::Sub(number(1), operand(*i));
  return number(1 - e_.attributes().number(name));
}

Any Mixed::done(const Any& x) const {
  const DType to = e_.result_type().dtype;
  if (to == work_) return x;
  return pe::Cast(x, element_type(to));
}

}  // namespace pando::lower
