// What vertices with an epilogue have in common.
#pragma once

#include <cstddef>

#include "kernels/elementwise/elementwise_matrix.h"

namespace poplin {

// Stands for the distance of an operand's rows where it has one row for all, or one number.
constexpr unsigned kOneRow = 0, kOneNumber = ~0u;

template <class Operands, class Strides>
void read_operands(const Operands& operands, const Strides& strides, pando::kernels::MatrixOperand* to) {
  using pando::kernels::Spread;
  for (unsigned i = 0; i < operands.size(); ++i)
    to[i] = {&operands[i][0], strides[i], strides[i] == kOneRow ? Spread::row : strides[i] == kOneNumber ? Spread::number : Spread::matrix};
}

}  // namespace poplin
