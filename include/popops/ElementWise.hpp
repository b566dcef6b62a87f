#ifndef popops_ElementWise_hpp
#define popops_ElementWise_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <popops/Expr.hpp>
#include <popops/ExprOp.hpp>
#include <poputil/DebugInfo.hpp>
#include <poputil/exceptions.hpp>

#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace poputil {
/// The enumerator's name.
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const popops::expr::UnaryOpType& op);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const popops::expr::BinaryOpType& op);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const popops::expr::TernaryOpType& op);
}  // namespace poputil

namespace popops {

// Element-wise operations. Operands are broadcast as in NumPy: shapes are aligned at their last dimensions, and a dimension that is
// missing or 1 repeats. Operands of a function have one type, except that SELECT's condition is BOOL; relations give BOOL. The work of
// one call is one compute set: one vertex per worker passes once over the operands, whatever the expression.
//
// half elements are computed in float and rounded when they are stored or cast: inner nodes of an expression are not rounded.
// Integers wrap around.
//
// Errors: poputil::poplibs_error for shapes that do not fit, types that differ or that a function does not have, a placeholder
// without tensor, and for results of the wrong shape or type or that may not be written in parallel. Options:
//   enableGenerateCodelet            [true]   may expressions be compiled to a codelet? docs/notes/fused_expressions.md has the rule
//   forceGenerateCodelet             [false]  compile every expression of more than one function
//   enableVectorBroadcastOptimisations [true] read broadcast operands in place; else every element of theirs is brought to its use
//   enableExpressionOptimisations    [true]   simplify, fold constants, and compute common parts once
// (also spelled with z). Unknown keys throw poplar::invalid_option.

/// Writes the codelet that map() makes of the expression, if it is made to compile one.
POPLAR_EXPORT void outputGeneratedCodelet(const poplar::Target& target, const expr::Expr& expr, const std::vector<poplar::Tensor>& ts,
                                          const poplar::OptionFlags& options, std::ostream& os);

/// Evaluates the expression over the tensors and returns the result, a new variable of the broadcast shape: mapped as the tensor that is
/// best spread over the tiles, or linearly.
POPLAR_EXPORT poplar::Tensor map(poplar::Graph& graph, const expr::Expr& expr, const std::vector<poplar::Tensor>& ts,
                                 poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                 const poplar::OptionFlags& options = {});
/// Several expressions over the same tensors, in one compute set where their shapes agree.
POPLAR_EXPORT std::vector<poplar::Tensor> map(poplar::Graph& graph, const std::vector<expr::Any>& exprs,
                                              const std::vector<poplar::Tensor>& ts, poplar::program::Sequence& prog,
                                              const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
/// Evaluates the expression and writes the result to ts[0], whose shape and type it has.
POPLAR_EXPORT void mapInPlace(poplar::Graph& graph, const expr::Expr& expr, const std::vector<poplar::Tensor>& ts,
                              poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                              const poplar::OptionFlags& options = {});
/// Writes the result of exprs[i] to ts[i]. Every expression sees what the tensors were before.
POPLAR_EXPORT void mapInPlace(poplar::Graph& graph, const std::vector<expr::Any>& exprs, const std::vector<poplar::Tensor>& ts,
                              poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                              const poplar::OptionFlags& options = {});
/// Evaluates the expression and writes the result to `out`, whose shape and type it has.
POPLAR_EXPORT void mapWithOutput(poplar::Graph& graph, const expr::Expr& expr, const std::vector<poplar::Tensor>& ts,
                                 const poplar::Tensor& out, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                 const poplar::OptionFlags& options = {});
/// Writes the result of exprs[i] to outs[i].
POPLAR_EXPORT void mapWithOutput(poplar::Graph& graph, const std::vector<expr::Any>& exprs, const std::vector<poplar::Tensor>& ts,
                                 const std::vector<poplar::Tensor>& outs, poplar::program::Sequence& prog,
                                 const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// One function of the tensors.

inline poplar::Tensor map(poplar::Graph& graph, expr::UnaryOpType op, const poplar::Tensor& t, poplar::program::Sequence& prog,
                          const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  return map(graph, expr::UnaryOp(op, expr::_1), {t}, prog, debugContext, options);
}

inline void mapInPlace(poplar::Graph& graph, expr::UnaryOpType op, const poplar::Tensor& t, poplar::program::Sequence& prog,
                       const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  mapInPlace(graph, expr::UnaryOp(op, expr::_1), {t}, prog, debugContext, options);
}

inline void mapWithOutput(poplar::Graph& graph, expr::UnaryOpType op, const poplar::Tensor& in, const poplar::Tensor& out,
                          poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                          const poplar::OptionFlags& options = {}) {
  mapWithOutput(graph, expr::UnaryOp(op, expr::_1), {in}, out, prog, debugContext, options);
}

inline poplar::Tensor map(poplar::Graph& graph, expr::BinaryOpType op, const poplar::Tensor& a, const poplar::Tensor& b,
                          poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                          const poplar::OptionFlags& options = {}) {
  return map(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, prog, debugContext, options);
}

inline void mapInPlace(poplar::Graph& graph, expr::BinaryOpType op, const poplar::Tensor& a, const poplar::Tensor& b,
                       poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                       const poplar::OptionFlags& options = {}) {
  mapInPlace(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, prog, debugContext, options);
}

inline void mapWithOutput(poplar::Graph& graph, expr::BinaryOpType op, const poplar::Tensor& a, const poplar::Tensor& b,
                          const poplar::Tensor& out, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                          const poplar::OptionFlags& options = {}) {
  mapWithOutput(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, out, prog, debugContext, options);
}

inline poplar::Tensor map(poplar::Graph& graph, expr::TernaryOpType op, const poplar::Tensor& a, const poplar::Tensor& b,
                          const poplar::Tensor& c, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                          const poplar::OptionFlags& options = {}) {
  return map(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3), {a, b, c}, prog, debugContext, options);
}

inline void mapInPlace(poplar::Graph& graph, expr::TernaryOpType op, const poplar::Tensor& a, const poplar::Tensor& b,
                       const poplar::Tensor& c, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                       const poplar::OptionFlags& options = {}) {
  mapInPlace(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3), {a, b, c}, prog, debugContext, options);
}

inline void mapWithOutput(poplar::Graph& graph, expr::TernaryOpType op, const poplar::Tensor& a, const poplar::Tensor& b,
                          const poplar::Tensor& c, const poplar::Tensor& out, poplar::program::Sequence& prog,
                          const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  mapWithOutput(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3), {a, b, c}, out, prog, debugContext, options);
}

/// Throws poputil::poplibs_error unless a constant of host type T can be an operand beside a tensor of type `elementType`: the device
/// type of T, or float and double for FLOAT and HALF.
template <class T> void checkTypes(poplar::Type elementType, T) {
  const bool fits = std::is_floating_point<T>::value ? elementType == poplar::FLOAT || elementType == poplar::HALF
                                                     : elementType == poplar::equivalent_device_type<T>().value;
  if (!fits)
    throw poputil::poplibs_error("element-wise operation: a constant of type " + poplar::equivalent_device_type<T>().value.toString() +
                                 " and a tensor of type " + elementType.toString() + " do not go together");
}

namespace consts {
/// A number as an operand; other types are left to the overloads for tensors.
template <class T> using IfNumber = typename std::enable_if<std::is_arithmetic<T>::value>::type;
/// The constant as an element of the tensor's type.
template <class T> expr::Const constantBeside(const poplar::Tensor& t, T value) {
  checkTypes(t.elementType(), value);
  if (!std::is_floating_point<T>::value) return expr::Const(value);
  const float f = static_cast<float>(value);
  return expr::Const(poplar::TypeTraits::make<float>(), t.elementType(), reinterpret_cast<const char*>(&f));
}
}  // namespace consts

// Three functions per operation: name() returns a new variable, nameInPlace() writes to the first operand, nameWithOutput() to `out`.

#define POPOPS_UNARY(name, op)                                                                                                            \
  inline poplar::Tensor name(poplar::Graph& graph, const poplar::Tensor& A, poplar::program::Sequence& prog,                              \
                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {                    \
    return map(graph, expr::UnaryOpType::op, A, prog, debugContext, options);                                                             \
  }                                                                                                                                       \
  inline void name##WithOutput(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& out, poplar::program::Sequence& prog, \
                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {                  \
    mapWithOutput(graph, expr::UnaryOpType::op, A, out, prog, debugContext, options);                                                     \
  }
#define POPOPS_UNARY_IN_PLACE(name, op)                                                                               \
  inline void name##InPlace(poplar::Graph& graph, const poplar::Tensor& A, poplar::program::Sequence& prog,           \
                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) { \
    mapInPlace(graph, expr::UnaryOpType::op, A, prog, debugContext, options);                                         \
  }

/// |x|.
POPOPS_UNARY(abs, ABSOLUTE)
POPOPS_UNARY_IN_PLACE(abs, ABSOLUTE)

/// 1 / x.
POPOPS_UNARY(inv, INVERSE)
POPOPS_UNARY_IN_PLACE(inv, INVERSE)

/// !x.
POPOPS_UNARY(logicalNot, LOGICAL_NOT)
POPOPS_UNARY_IN_PLACE(logicalNot, LOGICAL_NOT)

/// -x.
POPOPS_UNARY(neg, NEGATE)
POPOPS_UNARY_IN_PLACE(neg, NEGATE)

/// -1, 0 or 1.
POPOPS_UNARY(signum, SIGNUM)
POPOPS_UNARY_IN_PLACE(signum, SIGNUM)

/// Is x neither infinite nor NaN? The result is BOOL.
POPOPS_UNARY(isFinite, IS_FINITE)

/// Is x infinite? The result is BOOL.
POPOPS_UNARY(isInf, IS_INF)

/// Is x NaN? The result is BOOL.
POPOPS_UNARY(isNaN, IS_NAN)

/// ~x.
POPOPS_UNARY(bitwiseNot, BITWISE_NOT)
POPOPS_UNARY_IN_PLACE(bitwiseNot, BITWISE_NOT)

/// The number of zero bits above the highest set bit.
POPOPS_UNARY(countLeadingZeros, COUNT_LEADING_ZEROS)
POPOPS_UNARY_IN_PLACE(countLeadingZeros, COUNT_LEADING_ZEROS)

/// The number of set bits.
POPOPS_UNARY(popcount, POPCOUNT)
POPOPS_UNARY_IN_PLACE(popcount, POPCOUNT)

/// x rounded up.
POPOPS_UNARY(ceil, CEIL)
POPOPS_UNARY_IN_PLACE(ceil, CEIL)

/// x rounded down.
POPOPS_UNARY(floor, FLOOR)
POPOPS_UNARY_IN_PLACE(floor, FLOOR)

/// x rounded to the nearest integer, ties away from zero.
POPOPS_UNARY(round, ROUND)
POPOPS_UNARY_IN_PLACE(round, ROUND)

/// x rounded to the nearest integer, ties to even.
POPOPS_UNARY(nearbyint, NEARBY_INT)
POPOPS_UNARY_IN_PLACE(nearbyint, NEARBY_INT)

/// x rounded towards zero.
POPOPS_UNARY(trunc, TRUNC)
POPOPS_UNARY_IN_PLACE(trunc, TRUNC)

/// The cube root.
POPOPS_UNARY(cbrt, CBRT)
POPOPS_UNARY_IN_PLACE(cbrt, CBRT)

/// e^x.
POPOPS_UNARY(exp, EXPONENT)
POPOPS_UNARY_IN_PLACE(exp, EXPONENT)

/// 2^x.
POPOPS_UNARY(exp2, EXPONENT2)
POPOPS_UNARY_IN_PLACE(exp2, EXPONENT2)

/// e^x - 1.
POPOPS_UNARY(expm1, EXPONENT_MINUS_ONE)
POPOPS_UNARY_IN_PLACE(expm1, EXPONENT_MINUS_ONE)

/// The natural logarithm.
POPOPS_UNARY(log, LOGARITHM)
POPOPS_UNARY_IN_PLACE(log, LOGARITHM)

/// log(1 + x).
POPOPS_UNARY(log1p, LOGARITHM_ONE_PLUS)
POPOPS_UNARY_IN_PLACE(log1p, LOGARITHM_ONE_PLUS)

/// The square root.
POPOPS_UNARY(sqrt, SQRT)
POPOPS_UNARY_IN_PLACE(sqrt, SQRT)

/// x * x.
POPOPS_UNARY(square, SQUARE)
POPOPS_UNARY_IN_PLACE(square, SQUARE)

/// 1 / sqrt(x).
POPOPS_UNARY(rsqrt, RSQRT)
POPOPS_UNARY_IN_PLACE(rsqrt, RSQRT)

/// 1 / (1 + e^-x).
POPOPS_UNARY(sigmoid, SIGMOID)
POPOPS_UNARY_IN_PLACE(sigmoid, SIGMOID)

/// The arc sine, in radians.
POPOPS_UNARY(asin, ASIN)
POPOPS_UNARY_IN_PLACE(asin, ASIN)

/// The cosine of an angle in radians.
POPOPS_UNARY(cos, COS)
POPOPS_UNARY_IN_PLACE(cos, COS)

/// The sine of an angle in radians.
POPOPS_UNARY(sin, SIN)
POPOPS_UNARY_IN_PLACE(sin, SIN)

/// The tangent of an angle in radians.
POPOPS_UNARY(tan, TAN)
POPOPS_UNARY_IN_PLACE(tan, TAN)

/// The hyperbolic tangent.
POPOPS_UNARY(tanh, TANH)
POPOPS_UNARY_IN_PLACE(tanh, TANH)

/// x * (1 + erf(x / sqrt(2))) / 2.
POPOPS_UNARY(geluErf, GELU_ERF)
POPOPS_UNARY_IN_PLACE(geluErf, GELU_ERF)

/// The error function.
POPOPS_UNARY(erf, ERF)
POPOPS_UNARY_IN_PLACE(erf, ERF)

#undef POPOPS_UNARY
#undef POPOPS_UNARY_IN_PLACE

// Either operand may be a number, which is then of the other's type.

#define POPOPS_BINARY(name, op, A, B)                                                                                                    \
  inline poplar::Tensor name(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, poplar::program::Sequence& prog,    \
                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {                   \
    return map(graph, expr::BinaryOpType::op, A, B, prog, debugContext, options);                                                        \
  }                                                                                                                                      \
  template <class constType, class = consts::IfNumber<constType>>                                                                        \
  poplar::Tensor name(poplar::Graph& graph, const poplar::Tensor& A, const constType B, poplar::program::Sequence& prog,                 \
                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {                          \
    return map(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::_1, consts::constantBeside(A, B)), {A}, prog, debugContext, options); \
  }                                                                                                                                      \
  template <class constType, class = consts::IfNumber<constType>>                                                                        \
  poplar::Tensor name(poplar::Graph& graph, const constType A, const poplar::Tensor& B, poplar::program::Sequence& prog,                 \
                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {                          \
    return map(graph, expr::BinaryOp(expr::BinaryOpType::op, consts::constantBeside(B, A), expr::_1), {B}, prog, debugContext, options); \
  }                                                                                                                                      \
  inline void name##InPlace(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, poplar::program::Sequence& prog,     \
                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {                    \
    mapInPlace(graph, expr::BinaryOpType::op, A, B, prog, debugContext, options);                                                        \
  }                                                                                                                                      \
  template <class constType, class = consts::IfNumber<constType>>                                                                        \
  void name##InPlace(poplar::Graph& graph, const poplar::Tensor& A, const constType B, poplar::program::Sequence& prog,                  \
                     const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {                           \
    mapInPlace(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::_1, consts::constantBeside(A, B)), {A}, prog, debugContext, options); \
  }                                                                                                                                      \
  inline void name##WithOutput(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, const poplar::Tensor& out,        \
                               poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},                           \
                               const poplar::OptionFlags& options = {}) {                                                                \
    mapWithOutput(graph, expr::BinaryOpType::op, A, B, out, prog, debugContext, options);                                                \
  }                                                                                                                                      \
  template <class constType, class = consts::IfNumber<constType>>                                                                        \
  void name##WithOutput(poplar::Graph& graph, const poplar::Tensor& A, const constType B, const poplar::Tensor& out,                     \
                        poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},                                  \
                        const poplar::OptionFlags& options = {}) {                                                                       \
    mapWithOutput(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::_1, consts::constantBeside(A, B)), {A}, out, prog, debugContext,   \
                  options);                                                                                                              \
  }                                                                                                                                      \
  template <class constType, class = consts::IfNumber<constType>>                                                                        \
  void name##WithOutput(poplar::Graph& graph, const constType A, const poplar::Tensor& B, const poplar::Tensor& out,                     \
                        poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},                                  \
                        const poplar::OptionFlags& options = {}) {                                                                       \
    mapWithOutput(graph, expr::BinaryOp(expr::BinaryOpType::op, consts::constantBeside(B, A), expr::_1), {B}, out, prog, debugContext,   \
                  options);                                                                                                              \
  }

/// A + B.
POPOPS_BINARY(add, ADD, A, B)
/// A - B.
POPOPS_BINARY(sub, SUBTRACT, A, B)
/// A * B.
POPOPS_BINARY(mul, MULTIPLY, A, B)
/// A / B; integers are truncated, and x / 0 is 0.
POPOPS_BINARY(div, DIVIDE, A, B)
/// A^B.
POPOPS_BINARY(pow, POWER, A, B)
/// A less B times the truncated quotient; for integers x % 0 is x.
POPOPS_BINARY(rem, REMAINDER, A, B)
/// A & B.
POPOPS_BINARY(bitwiseAnd, BITWISE_AND, A, B)
/// A | B.
POPOPS_BINARY(bitwiseOr, BITWISE_OR, A, B)
/// A ^ B.
POPOPS_BINARY(bitwiseXor, BITWISE_XOR, A, B)
/// ~(A ^ B).
POPOPS_BINARY(bitwiseXnor, BITWISE_XNOR, A, B)
/// A << B; 0 if B is not less than the number of bits.
POPOPS_BINARY(shiftLeft, SHIFT_LEFT, A, B)
/// A >> B with zeros shifted in; 0 if B is not less than the number of bits.
POPOPS_BINARY(shiftRight, SHIFT_RIGHT, A, B)
/// A >> B with copies of the sign shifted in.
POPOPS_BINARY(shiftRightSignExtend, SHIFT_RIGHT_SIGN_EXTEND, A, B)
/// A && B.
POPOPS_BINARY(logicalAnd, LOGICAL_AND, A, B)
/// A || B.
POPOPS_BINARY(logicalOr, LOGICAL_OR, A, B)
/// A == B.
POPOPS_BINARY(eq, EQUAL, A, B)
/// A != B.
POPOPS_BINARY(neq, NOT_EQUAL, A, B)
/// A >= B.
POPOPS_BINARY(gteq, GREATER_THAN_EQUAL, A, B)
/// A > B.
POPOPS_BINARY(gt, GREATER_THAN, A, B)
/// A <= B.
POPOPS_BINARY(lteq, LESS_THAN_EQUAL, A, B)
/// A < B.
POPOPS_BINARY(lt, LESS_THAN, A, B)
/// The greater; a number if the other is NaN.
POPOPS_BINARY(max, MAXIMUM, A, B)
/// The smaller; a number if the other is NaN.
POPOPS_BINARY(min, MINIMUM, A, B)
/// The angle of the point (B, A), in radians.
POPOPS_BINARY(atan2, ATAN2, A, B)
/// 1 / invStdDev^2 - epsilon.
POPOPS_BINARY(invStdDevToVariance, INV_STD_DEV_TO_VARIANCE, invStdDev, epsilon)
/// 1 / sqrt(variance + epsilon).
POPOPS_BINARY(varianceToInvStdDev, VARIANCE_TO_INV_STD_DEV, variance, epsilon)

#undef POPOPS_BINARY

/// The same between FLOAT and HALF: the result has type `dstType`. The work is done in float.
POPLAR_EXPORT poplar::Tensor varianceToInvStdDev(poplar::Graph& graph, const poplar::Tensor& src, const poplar::Tensor& epsilon,
                                                 poplar::program::Sequence& prog, const poplar::Type dstType = poplar::HALF,
                                                 const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor varianceToInvStdDev(poplar::Graph& graph, const poplar::Tensor& src, const float epsilon,
                                                 poplar::program::Sequence& prog, const poplar::Type dstType = poplar::HALF,
                                                 const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor invStdDevToVariance(poplar::Graph& graph, const poplar::Tensor& src, const poplar::Tensor& epsilon,
                                                 poplar::program::Sequence& prog, const poplar::Type dstType = poplar::FLOAT,
                                                 const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor invStdDevToVariance(poplar::Graph& graph, const poplar::Tensor& src, const float epsilon,
                                                 poplar::program::Sequence& prog, const poplar::Type dstType = poplar::FLOAT,
                                                 const poplar::DebugContext& debugContext = {});

#define POPOPS_TERNARY(name, op, A, B, C)                                                                                                 \
  inline poplar::Tensor name(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, const poplar::Tensor& C,             \
                             poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},                              \
                             const poplar::OptionFlags& options = {}) {                                                                   \
    return map(graph, expr::TernaryOpType::op, A, B, C, prog, debugContext, options);                                                     \
  }                                                                                                                                       \
  inline void name##InPlace(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, const poplar::Tensor& C,              \
                            poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},                               \
                            const poplar::OptionFlags& options = {}) {                                                                    \
    mapInPlace(graph, expr::TernaryOpType::op, A, B, C, prog, debugContext, options);                                                     \
  }                                                                                                                                       \
  inline void name##WithOutput(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, const poplar::Tensor& C,           \
                               const poplar::Tensor& out, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {}, \
                               const poplar::OptionFlags& options = {}) {                                                                 \
    mapWithOutput(graph, expr::TernaryOpType::op, A, B, C, out, prog, debugContext, options);                                             \
  }

/// A where the condition holds, B elsewhere.
POPOPS_TERNARY(select, SELECT, A, B, conditions)
/// The values, but not below the minimums nor above the maximums.
POPOPS_TERNARY(clamp, CLAMP, values, minimums, maximums)

#undef POPOPS_TERNARY

}  // namespace popops

#endif
