// What the vertices of convolutions have in common: a block's numbers as vertex state, and its cost.
//
// State `shape`: dims, batch, in channels, out channels, order of the first and of the second operand, then in, out, taps, stride,
// dilation, offset and step of each dimension. Operands of several groups follow each other, each with as many pieces.
#pragma once

#ifdef __POPC__
#include "kernels/conv/conv.h"

namespace poplin {

enum { kConvHeader = 6, kConvLineNumbers = 7 };

template <class Shape>
inline void read_block(const Shape& shape, ConvBlock& block, ConvOperand& first, ConvOperand& second) {
  block.dims = shape[0];
  block.batch = shape[1];
  block.in_channels = shape[2];
  block.out_channels = shape[3];
  first.order = shape[4];
  second.order = shape[5];
  for (int d = 0; d < block.dims; ++d) {
    const int at = kConvHeader + kConvLineNumbers * d;
    block.lines[d] = {shape[at], shape[at + 1], shape[at + 2], shape[at + 3], shape[at + 4], shape[at + 5], shape[at + 6]};
  }
}

// The pieces of one group; together they have `elements` elements a channel.
template <class Fields>
inline void read_pieces(const Fields& fields, unsigned group, unsigned pieces, unsigned long elements, ConvOperand& operand) {
  operand.n_pieces = static_cast<int>(pieces);
  for (unsigned p = 0; p < pieces; ++p) {
    const auto& field = fields[group * pieces + p];
    operand.pieces[p] = {field.data(),
                         elements == 0 ? 0 : static_cast<int>(field.size() * (operand.order == kByRow ? pieces : 1) / elements)};
  }
}

inline unsigned long product_of(const ConvBlock& block, int ConvLine::* member) {
  unsigned long n = 1;
  for (int d = 0; d < block.dims; ++d) n *= static_cast<unsigned long>(block.lines[d].*member);
  return n;
}

template <class A, class B>
struct IsHalf {
  static constexpr bool value = false;
};
template <class A>
struct IsHalf<A, A> {
  static constexpr bool value = true;
};

}  // namespace poplin
#endif
