// A matrix becomes its factors without exchanges of rows: U on and above the diagonal, L below it, whose diagonal is 1.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace poplin {

class FactorLu : public poplar::Vertex {
 public:
  FactorLu();
  poplar::InOut<poplar::Vector<float>> matrix;  // size x size
  const unsigned size;

  bool compute() {
    for (unsigned i = 1; i < size; ++i) {
      float* row = &matrix[i * size];
      for (unsigned k = 0; k < i; ++k) {
        const float* pivot = &matrix[k * size];
        const float factor = row[k] / pivot[k];
        row[k] = factor;
        for (unsigned j = k + 1; j < size; ++j) row[j] -= factor * pivot[j];
      }
    }
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// A third of size^3 products, each taken away in a cycle; a division for each element below the diagonal.
Estimates estimates_factor_lu() {
  return {{"poplin::FactorLu", [](const VertexIntrospector& vertex, const Target& target) {
             const std::size_t size = vertex.getFieldInfo("size").getInitialValue<unsigned>(target);
             return VertexPerfEstimate(20 + size * size * (8 + size / 3), size * size * size * 2 / 3);
           }}};
}

}  // namespace poplin
#endif
