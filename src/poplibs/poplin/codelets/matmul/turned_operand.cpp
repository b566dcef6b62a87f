// Rows of a matrix whose columns follow each other in memory, brought together before the parts of a product on the CPU device read them:
// `from` is the memory from the first of these rows on, whose element (i, l) is at l * column + i. `to` has k elements of each row.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/transpose.h"

namespace poplin {

class TurnedOperand : public poplar::Vertex {
 public:
  TurnedOperand();
  poplar::Input<poplar::Vector<float>> from;
  poplar::Output<poplar::Vector<float>> to;
  const unsigned k, column;

  bool compute() {
    pando_transpose_f32(&from[0], column, k, to.size() / k, &to[0], k);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Blocks of two by two: a 64-bit load and a 64-bit store for two elements.
Estimates estimates_turned_operand() {
  using namespace poplar;
  return {{"poplin::TurnedOperand",
           [](const VertexIntrospector& vertex, const Target&) { return VertexPerfEstimate(30 + vertex.getFieldInfo("to").size()); }}};
}

}  // namespace poplin
#endif
