// Names of the operations.
#include <popops/ElementWise.hpp>
#include <popops/ExprOpUtils.hpp>

#include <ostream>
#include <sstream>

#include "kernels/elementwise/elementwise_rows.h"

namespace popops::expr::ostream_ext {

std::ostream& operator<<(std::ostream& os, const UnaryOpType& t) {
  switch (t) {
#define PANDO_ROW(NAME, ...) \
  case UnaryOpType::NAME: return os << #NAME;
    PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
  }
  return os;
}

std::ostream& operator<<(std::ostream& os, const BinaryOpType& t) {
  switch (t) {
#define PANDO_ROW(NAME, ...) \
  case BinaryOpType::NAME: return os << #NAME;
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
  }
  return os;
}

std::ostream& operator<<(std::ostream& os, const TernaryOpType& t) {
  switch (t) {
    case TernaryOpType::CLAMP: return os << "CLAMP";
    case TernaryOpType::SELECT: return os << "SELECT";
  }
  return os;
}

}  // namespace popops::expr::ostream_ext

namespace poputil {

namespace {

template <class Op>
poplar::ProfileValue value_of(const Op& op) {
  using namespace popops::expr::ostream_ext;
  std::ostringstream out;
  out << op;
  return poplar::ProfileValue(out.str());
}

}  // namespace

template <>
poplar::ProfileValue toProfileValue(const popops::expr::UnaryOpType& op) {
  return value_of(op);
}
template <>
poplar::ProfileValue toProfileValue(const popops::expr::BinaryOpType& op) {
  return value_of(op);
}
template <>
poplar::ProfileValue toProfileValue(const popops::expr::TernaryOpType& op) {
  return value_of(op);
}

}  // namespace poputil
