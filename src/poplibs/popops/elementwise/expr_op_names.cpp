// Names of the operations.
#include <popops/ElementWise.hpp>
#include <popops/ExprOpUtils.hpp>

#include <ostream>
#include <sstream>

namespace popops::expr::ostream_ext {

std::ostream& operator<<(std::ostream& os, const UnaryOpType& t) {
  switch (t) {
    case UnaryOpType::ABSOLUTE: return os << "ABSOLUTE";
    case UnaryOpType::ASIN: return os << "ASIN";
    case UnaryOpType::BITWISE_NOT: return os << "BITWISE_NOT";
    case UnaryOpType::CBRT: return os << "CBRT";
    case UnaryOpType::CEIL: return os << "CEIL";
    case UnaryOpType::COS: return os << "COS";
    case UnaryOpType::COUNT_LEADING_ZEROS: return os << "COUNT_LEADING_ZEROS";
    case UnaryOpType::ERF: return os << "ERF";
    case UnaryOpType::EXPONENT: return os << "EXPONENT";
    case UnaryOpType::EXPONENT_MINUS_ONE: return os << "EXPONENT_MINUS_ONE";
    case UnaryOpType::EXPONENT2: return os << "EXPONENT2";
    case UnaryOpType::FLOOR: return os << "FLOOR";
    case UnaryOpType::GELU_ERF: return os << "GELU_ERF";
    case UnaryOpType::INVERSE: return os << "INVERSE";
    case UnaryOpType::IS_FINITE: return os << "IS_FINITE";
    case UnaryOpType::IS_INF: return os << "IS_INF";
    case UnaryOpType::IS_NAN: return os << "IS_NAN";
    case UnaryOpType::LOGARITHM: return os << "LOGARITHM";
    case UnaryOpType::LOGARITHM_ONE_PLUS: return os << "LOGARITHM_ONE_PLUS";
    case UnaryOpType::LOGICAL_NOT: return os << "LOGICAL_NOT";
    case UnaryOpType::NEGATE: return os << "NEGATE";
    case UnaryOpType::NEARBY_INT: return os << "NEARBY_INT";
    case UnaryOpType::POPCOUNT: return os << "POPCOUNT";
    case UnaryOpType::RELU: return os << "RELU";
    case UnaryOpType::SIGNUM: return os << "SIGNUM";
    case UnaryOpType::SIN: return os << "SIN";
    case UnaryOpType::TAN: return os << "TAN";
    case UnaryOpType::TANH: return os << "TANH";
    case UnaryOpType::ROUND: return os << "ROUND";
    case UnaryOpType::SQRT: return os << "SQRT";
    case UnaryOpType::SQUARE: return os << "SQUARE";
    case UnaryOpType::SIGMOID: return os << "SIGMOID";
    case UnaryOpType::RSQRT: return os << "RSQRT";
    case UnaryOpType::TRUNC: return os << "TRUNC";
  }
  return os;
}

std::ostream& operator<<(std::ostream& os, const BinaryOpType& t) {
  switch (t) {
    case BinaryOpType::ADD: return os << "ADD";
    case BinaryOpType::ATAN2: return os << "ATAN2";
    case BinaryOpType::BITWISE_AND: return os << "BITWISE_AND";
    case BinaryOpType::BITWISE_OR: return os << "BITWISE_OR";
    case BinaryOpType::BITWISE_XOR: return os << "BITWISE_XOR";
    case BinaryOpType::BITWISE_XNOR: return os << "BITWISE_XNOR";
    case BinaryOpType::DIVIDE: return os << "DIVIDE";
    case BinaryOpType::EQUAL: return os << "EQUAL";
    case BinaryOpType::GREATER_THAN_EQUAL: return os << "GREATER_THAN_EQUAL";
    case BinaryOpType::GREATER_THAN: return os << "GREATER_THAN";
    case BinaryOpType::INV_STD_DEV_TO_VARIANCE: return os << "INV_STD_DEV_TO_VARIANCE";
    case BinaryOpType::LESS_THAN_EQUAL: return os << "LESS_THAN_EQUAL";
    case BinaryOpType::LOGICAL_AND: return os << "LOGICAL_AND";
    case BinaryOpType::LOGICAL_OR: return os << "LOGICAL_OR";
    case BinaryOpType::LESS_THAN: return os << "LESS_THAN";
    case BinaryOpType::MAXIMUM: return os << "MAXIMUM";
    case BinaryOpType::MINIMUM: return os << "MINIMUM";
    case BinaryOpType::MULTIPLY: return os << "MULTIPLY";
    case BinaryOpType::NOT_EQUAL: return os << "NOT_EQUAL";
    case BinaryOpType::POWER: return os << "POWER";
    case BinaryOpType::REMAINDER: return os << "REMAINDER";
    case BinaryOpType::SHIFT_LEFT: return os << "SHIFT_LEFT";
    case BinaryOpType::SHIFT_RIGHT: return os << "SHIFT_RIGHT";
    case BinaryOpType::SHIFT_RIGHT_SIGN_EXTEND: return os << "SHIFT_RIGHT_SIGN_EXTEND";
    case BinaryOpType::SUBTRACT: return os << "SUBTRACT";
    case BinaryOpType::VARIANCE_TO_INV_STD_DEV: return os << "VARIANCE_TO_INV_STD_DEV";
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
