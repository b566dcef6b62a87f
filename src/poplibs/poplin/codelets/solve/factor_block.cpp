// A positive definite matrix becomes the lower triangle L of A = L L^T, zeros above it. Only A's lower triangle is read; sums in float.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace poplin {

template <class T>
class FactorBlock : public poplar::Vertex {
 public:
  FactorBlock();
  poplar::InOut<poplar::Vector<T>> matrix;  // size x size
  const unsigned size;

  bool compute() {
    for (unsigned i = 0; i < size; ++i) {
      T* row = &matrix[i * size];
      for (unsigned j = 0; j <= i; ++j) {
        const T* other = &matrix[j * size];
        float sum = static_cast<float>(row[j]);
        for (unsigned k = 0; k < j; ++k) sum -= static_cast<float>(row[k]) * static_cast<float>(other[k]);
        row[j] = static_cast<T>(i == j ? __builtin_sqrtf(sum) : sum / static_cast<float>(other[j]));
      }
      for (unsigned j = i + 1; j < size; ++j) row[j] = static_cast<T>(0.0f);
    }
    return true;
  }
};

template class FactorBlock<float>;
template class FactorBlock<half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// A sixth of size^3 products, each added in a cycle; for each element of the triangle a division or a root.
Estimates estimates_factor_block() {
  return for_types("poplin::FactorBlock", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t size = vertex.getFieldInfo("size").getInitialValue<unsigned>(target);
      return VertexPerfEstimate(20 + size * size * (8 + size / 6), size * size * size / 3);
    };
  });
}

}  // namespace poplin
#endif
