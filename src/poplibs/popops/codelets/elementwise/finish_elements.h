// What vertices of several libraries have in common that finish what they have computed.
#pragma once

#include "kernels/elementwise/elementwise_matrix.h"

namespace popops {

// An epilogue on elements that follow each other, of all results and of operands that lie as these do; its words say which operands are
// repeated (popops/elementwise/finish.h: words_for). The first result holds what has been computed. Fields are those of one group after the
// other.
template <class Operands, class Code, class T, class Results>
static inline void finish_elements(const Operands& operands, const Code& code, T* first, std::size_t elements, const Results& more,
                                   unsigned group = 0, unsigned groups = 1) {
  using namespace pando::kernels;
  const unsigned inputs = operands.size() / groups, others = more.size() / groups;
  Row in[kMostEpilogueMatrices], out[kMostEpilogueMatrices] = {{first, elements}};
  for (unsigned i = 0; i < inputs; ++i) {
    const auto& field = operands[group * inputs + i];
    in[i] = {const_cast<T*>(&field[0]), field.size()};
  }
  for (unsigned i = 0; i < others; ++i) out[i + 1] = {const_cast<T*>(&more[group * others + i][0]), elements};
  Rows ins[4] = {}, outs[4] = {};
  ins[size_class_of(sizeof(T))] = {in, inputs};
  outs[size_class_of(sizeof(T))] = {out, others + 1};
  pando_program(&code[0], ins, outs);
}

}  // namespace popops
