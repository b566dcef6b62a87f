// One row for each reduction: all that is known of it beside the public headers. Names, types, identities, costs and kernels are made from
// these rows; tests/check_rows.py rejects other lists of them.
//
//   name in popops::Operation, name here     in the order of popops' enumeration
//   types       whose elements it takes: numbers, booleans, floats
//   scaled      takes a scale; plain: does not
//   identity    the result of nothing: zero, one, greatest, least
//   flops       operations for an element
//   how, with   sums: integers wrap; values: are compared as they are; logs: are added by their exponentials. Of two values:
//   kernels/rows/reduce.cpp results     what two results of it are combined with
#pragma once

#define PANDO_REDUCE_ROWS(X)                                                \
  X(ADD, add, numbers, scaled, zero, 1, sums, Add, Add)                     \
  X(MUL, mul, numbers, plain, one, 1, sums, Mul, Mul)                       \
  X(MIN, min, numbers, plain, greatest, 1, values, Min, Min)                \
  X(MAX, max, numbers, plain, least, 1, values, Max, Max)                   \
  X(LOGICAL_AND, logical_and, booleans, plain, one, 1, values, Min, Min)    \
  X(LOGICAL_OR, logical_or, booleans, plain, zero, 1, values, Max, Max)     \
  X(SQUARE_ADD, square_add, numbers, scaled, zero, 2, sums, SquareAdd, Add) \
  X(LOG_ADD, log_add, floats, scaled, least, 3, logs, LogAdd, LogAdd)
