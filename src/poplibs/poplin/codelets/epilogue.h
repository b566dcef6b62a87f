// What vertices with an epilogue have in common.
#pragma once

#ifdef __POPC__
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

// An epilogue on elements that follow each other, of all results and of operands that lie as these do; its words say which operands are
// repeated (poplin/epilogue.h: words_for). The first result holds what has been computed. Fields are those of one group after the other.
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

}  // namespace poplin
#else
#include <vector>

#include "poplibs/codelet_file.h"
#include "poplibs/popops/elementwise/epilogue.h"

namespace poplin {

// The cost of a supervisor's vertex, and that of what its `code`, if there is any, does with the elements of its result.
inline poplar::VertexPerfEstimate with_epilogue(const poplar::VertexPerfEstimate& cost, const poplar::VertexIntrospector& vertex,
                                                const poplar::Target& target, std::size_t elements) {
  if (vertex.getFieldInfo("code").size() == 0) return cost;
  const std::vector<unsigned> code = vertex.getFieldInfo("code").getInitialValues<unsigned>(target);
  return cost + popops::internal::epilogue_cost(code, elements, target.getNumWorkerContexts());
}

}  // namespace poplin
#endif
