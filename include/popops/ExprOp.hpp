#ifndef popops_ExprOp_hpp
#define popops_ExprOp_hpp

namespace popops {
namespace expr {

/// CLAMP(value, least, greatest); SELECT(a, b, condition): a where the condition holds, else b.
enum class TernaryOpType { CLAMP, SELECT };

/// Functions of two operands of one type. Relations (EQUAL ... LESS_THAN) give BOOL, the others the operands' type.
/// INV_STD_DEV_TO_VARIANCE(x, e) = 1 / x^2 - e; VARIANCE_TO_INV_STD_DEV(x, e) = 1 / sqrt(x + e).
enum class BinaryOpType {
  ADD,
  ATAN2,
  BITWISE_AND,
  BITWISE_OR,
  BITWISE_XOR,
  BITWISE_XNOR,
  DIVIDE,
  EQUAL,
  GREATER_THAN_EQUAL,
  GREATER_THAN,
  INV_STD_DEV_TO_VARIANCE,
  LESS_THAN_EQUAL,
  LOGICAL_AND,
  LOGICAL_OR,
  LESS_THAN,
  MAXIMUM,
  MINIMUM,
  MULTIPLY,
  NOT_EQUAL,
  POWER,
  REMAINDER,
  SHIFT_LEFT,
  SHIFT_RIGHT,
  SHIFT_RIGHT_SIGN_EXTEND,
  SUBTRACT,
  VARIANCE_TO_INV_STD_DEV
};

/// Functions of one operand. IS_FINITE, IS_INF, IS_NAN give BOOL, the others the operand's type. GELU is x / (1 + exp(-2 sqrt(2 / pi)
/// (x + 0.044715 x^3))), the form with a tanh, and GELU_SLOPE its derivative: these two are Pando's own.
enum class UnaryOpType {
  ABSOLUTE,
  ASIN,
  BITWISE_NOT,
  CBRT,
  CEIL,
  COS,
  COUNT_LEADING_ZEROS,
  ERF,
  EXPONENT,
  EXPONENT_MINUS_ONE,
  EXPONENT2,
  FLOOR,
  GELU_ERF,
  INVERSE,
  IS_FINITE,
  IS_INF,
  IS_NAN,
  LOGARITHM,
  LOGARITHM_ONE_PLUS,
  LOGICAL_NOT,
  NEGATE,
  NEARBY_INT,
  POPCOUNT,
  RELU,
  SIGNUM,
  SIN,
  TAN,
  TANH,
  ROUND,
  SQRT,
  SQUARE,
  SIGMOID,
  RSQRT,
  TRUNC,
  GELU,
  GELU_SLOPE
};

}  // namespace expr
}  // namespace popops

#endif
