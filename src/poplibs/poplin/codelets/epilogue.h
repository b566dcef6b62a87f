// What vertices with an epilogue have in common.
#pragma once

#ifdef __POPC__
#include <cstddef>

#include "kernels/elementwise/elementwise_matrix.h"
#include "poplibs/popops/codelets/elementwise/finish_elements.h"

namespace poplin {

// Stands for the distance of an operand's rows where it has one row for all, or one number.
constexpr unsigned kOneRow = 0, kOneNumber = ~0u;

template <class Operands, class Strides>
void read_operands(const Operands& operands, const Strides& strides, pando::kernels::MatrixOperand* to) {
  using pando::kernels::Spread;
  for (unsigned i = 0; i < operands.size(); ++i)
    to[i] = {&operands[i][0], strides[i], strides[i] == kOneRow ? Spread::row : strides[i] == kOneNumber ? Spread::number : Spread::matrix};
}

using popops::finish_elements;

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
