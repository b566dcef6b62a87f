// One row for each element-wise operation: all that is known of it beside the public headers. Enumerators, types, costs, kernels, generated
// code and printed names are made from these rows; tests/check_rows.py rejects other lists of them.
//
//   name in popops::expr, name here     in the order of popops' enumerations
//   types      whose elements it takes: Types
//   cycles     of an element on a tile: of a float, of an integer; 0: as fast as memory
//   floats     how the kernels do it (Way), how generated code does it (text: as the expression says; call: by the kernel), and the
//   expression integers   likewise
//
// In expressions x (and y) are operands; T is their type, W the unsigned type that it is computed in so that it wraps, U and S are T
// without and with a sign, kBits is T's width, and kOnes has all bits of T set. Functions ending in _f are of
// kernels/elementwise/elementwise_math.h.
#pragma once

// clang-format off
#define PANDO_UNARY_ROWS(X) \
  X(ABSOLUTE, absolute, numbers, 0, 0, loop, text, __builtin_fabsf(x), loop, call, (T)(x < 0 ? (W)0 - (W)x : (W)x)) \
  X(ASIN, asin, floats, 30, 0, loop, call, asin_f(x), none, call, x) \
  X(BITWISE_NOT, bitwise_not, bits, 0, 0, none, call, x, loop, text, (T)((W)x ^ kOnes)) \
  X(CBRT, cbrt, floats, 30, 0, loop, call, cbrt_f(x), none, call, x) \
  X(CEIL, ceil, floats, 0, 0, loop, text, __builtin_ceilf(x), none, call, x) \
  X(COS, cos, floats, 30, 0, cosines, call, cos_f(x), none, call, x) \
  X(COUNT_LEADING_ZEROS, count_leading_zeros, integers, 0, 3, none, call, x, each, call, \
    (T)(x == 0 ? kBits : (unsigned)__builtin_clzll((U)x) - (64 - kBits))) \
  X(ERF, erf, floats, 30, 0, loop, call, erf_f(x), none, call, x) \
  X(EXPONENT, exp, floats, 4, 0, loop, call, exp_f(x), none, call, x) \
  X(EXPONENT_MINUS_ONE, expm1, floats, 30, 0, loop, call, expm1_f(x), none, call, x) \
  X(EXPONENT2, exp2, floats, 4, 0, loop, call, exp2_f(x), none, call, x) \
  X(FLOOR, floor, floats, 0, 0, loop, text, __builtin_floorf(x), none, call, x) \
  X(GELU_ERF, gelu_erf, floats, 30, 0, loop, call, gelu_erf_f(x), none, call, x) \
  X(INVERSE, inverse, floats, 5, 0, loop, text, 1.0f / x, none, call, x) \
  X(IS_FINITE, is_finite, floats, 0, 0, test, text, __builtin_fabsf(x) < __builtin_inff(), none, call, x) \
  X(IS_INF, is_inf, floats, 0, 0, test, text, __builtin_fabsf(x) == __builtin_inff(), none, call, x) \
  X(IS_NAN, is_nan, floats, 0, 0, test, text, x != x, none, call, x) \
  X(LOGARITHM, log, floats, 4, 0, loop, call, log_f(x), none, call, x) \
  X(LOGARITHM_ONE_PLUS, log1p, floats, 30, 0, loop, call, log1p_f(x), none, call, x) \
  X(LOGICAL_NOT, logical_not, booleans, 0, 0, none, call, x, none, text, !x) \
  X(NEGATE, negate, numbers, 0, 0, loop, text, -x, loop, text, (T)((W)0 - (W)x)) \
  X(NEARBY_INT, nearby_int, floats, 0, 0, loop, text, __builtin_nearbyintf(x), none, call, x) \
  X(POPCOUNT, popcount, integers, 0, 3, none, call, x, loop, call, (T)__builtin_popcountll((U)x)) \
  X(RELU, relu, numbers, 0, 0, loop, text, x < 0 ? 0.0f : x, loop, text, x < 0 ? (T)0 : x) \
  X(SIGNUM, signum, numbers, 0, 0, loop, text, (float)((x > 0) - (x < 0)), loop, text, (T)((x > 0) - (x < 0))) \
  X(SIN, sin, floats, 30, 0, sines, call, sin_f(x), none, call, x) \
  X(TAN, tan, floats, 30, 0, tangents, call, tan_f(x), none, call, x) \
  X(TANH, tanh, floats, 4, 0, loop, call, tanh_f(x), none, call, x) \
  X(ROUND, round, floats, 0, 0, loop, call, round_f(x), none, call, x) \
  X(SQRT, sqrt, numbers, 5, 5, loop, text, __builtin_sqrtf(x), each, call, square_root(x)) \
  X(SQUARE, square, numbers, 0, 0, loop, text, x * x, loop, text, (T)((W)x * (W)x)) \
  X(SIGMOID, sigmoid, floats, 4, 0, loop, call, sigmoid_f(x), none, call, x) \
  X(RSQRT, rsqrt, floats, 4, 0, loop, text, 1.0f / __builtin_sqrtf(x), none, call, x) \
  X(TRUNC, trunc, floats, 0, 0, loop, text, __builtin_truncf(x), none, call, x) \
  X(GELU, gelu, floats, 5, 0, loop, call, gelu_f(x), none, call, x) \
  X(GELU_SLOPE, gelu_slope, floats, 7, 0, loop, call, gelu_slope_f(x), none, call, x)

// `chains`: kernels/elementwise/elementwise_chain.cpp has it, too. A NaN wins, as in reductions.
#define PANDO_BINARY_ROWS(X) \
  X(ADD, add, numbers, 0, 0, chains, loop, text, x + y, loop, text, (T)((W)x + (W)y)) \
  X(ATAN2, atan2, floats, 40, 0, alone, angles, call, atan2_f(x, y), none, call, x) \
  X(BITWISE_AND, bitwise_and, bits, 0, 0, alone, none, call, x, loop, text, (T)((W)x & (W)y)) \
  X(BITWISE_OR, bitwise_or, bits, 0, 0, alone, none, call, x, loop, text, (T)((W)x | (W)y)) \
  X(BITWISE_XOR, bitwise_xor, bits, 0, 0, alone, none, call, x, loop, text, (T)((W)x ^ (W)y)) \
  X(BITWISE_XNOR, bitwise_xnor, bits, 0, 0, alone, none, call, x, loop, text, (T)((W)x ^ (W)y ^ kOnes)) \
  X(DIVIDE, divide, numbers, 4, 20, chains, loop, text, x / y, quotients, call, x) \
  X(EQUAL, equal, all, 0, 0, alone, relation, text, x == y, relation, text, x == y) \
  X(GREATER_THAN_EQUAL, greater_equal, all, 0, 0, alone, relation, text, x >= y, relation, text, x >= y) \
  X(GREATER_THAN, greater, all, 0, 0, alone, relation, text, x > y, relation, text, x > y) \
  X(INV_STD_DEV_TO_VARIANCE, inv_std_dev_to_variance, floats, 6, 0, alone, loop, text, 1.0f / (x * x) - y, none, call, x) \
  X(LESS_THAN_EQUAL, less_equal, all, 0, 0, alone, relation, text, x <= y, relation, text, x <= y) \
  X(LOGICAL_AND, logical_and, booleans, 0, 0, alone, none, call, x, none, text, (T)((W)x & (W)y)) \
  X(LOGICAL_OR, logical_or, booleans, 0, 0, alone, none, call, x, none, text, (T)((W)x | (W)y)) \
  X(LESS_THAN, less, all, 0, 0, alone, relation, text, x < y, relation, text, x < y) \
  X(MAXIMUM, maximum, numbers, 0, 0, chains, loop, text, x > y || x != x ? x : y, loop, text, x > y ? x : y) \
  X(MINIMUM, minimum, numbers, 0, 0, chains, loop, text, x < y || x != x ? x : y, loop, text, x < y ? x : y) \
  X(MULTIPLY, multiply, numbers, 0, 0, chains, loop, text, x * y, loop, text, (T)((W)x * (W)y)) \
  X(NOT_EQUAL, not_equal, all, 0, 0, alone, relation, text, x != y, relation, text, x != y) \
  X(POWER, power, numbers, 40, 40, alone, powers, call, power_f(x, y), each, call, integer_power(x, y)) \
  X(REMAINDER, remainder, numbers, 40, 20, alone, remainders, call, remainder_f(x, y), rests, call, x) \
  X(SHIFT_LEFT, shift_left, integers, 0, 0, alone, none, call, x, loop, call, (U)y < kBits ? (T)((W)x << ((U)y & (kBits - 1))) : (T)0) \
  X(SHIFT_RIGHT, shift_right, integers, 0, 0, alone, none, call, x, loop, call, \
    (U)y < kBits ? (T)((U)x >> ((U)y & (kBits - 1))) : (T)0) \
  X(SHIFT_RIGHT_SIGN_EXTEND, shift_right_sign_extend, integers, 0, 0, alone, none, call, x, loop, call, \
    (T)((S)x >> ((U)y < kBits ? (U)y & (kBits - 1) : kBits - 1))) \
  X(SUBTRACT, subtract, numbers, 0, 0, chains, loop, text, x - y, loop, text, (T)((W)x - (W)y)) \
  X(VARIANCE_TO_INV_STD_DEV, variance_to_inv_std_dev, floats, 6, 0, alone, loop, text, 1.0f / __builtin_sqrtf(x + y), none, call, x)
// clang-format on
