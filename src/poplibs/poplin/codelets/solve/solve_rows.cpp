// Rows x of a matrix become the solutions of L x^T = b^T, where b is the row before: forward substitution, sums in float.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace poplin {

template <class T>
class SolveRows : public poplar::Vertex {
 public:
  SolveRows();
  poplar::Input<poplar::Vector<T>> triangle;  // size x size
  poplar::InOut<poplar::Vector<T>> rows;      // of `size` elements
  const unsigned size;
  const bool unitDiagonal;

  bool compute() {
    for (unsigned begin = 0; begin < rows.size(); begin += size) {
      T* x = &rows[begin];
      for (unsigned i = 0; i < size; ++i) {
        const T* l = &triangle[i * size];
        float sum = static_cast<float>(x[i]);
        for (unsigned j = 0; j < i; ++j) sum -= static_cast<float>(l[j]) * static_cast<float>(x[j]);
        x[i] = static_cast<T>(unitDiagonal ? sum : sum / static_cast<float>(l[i]));
      }
    }
    return true;
  }
};

template class SolveRows<float>;
template class SolveRows<half>;

}  // namespace poplin
#else
#include <algorithm>

#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// A product is added in a cycle; a division takes some.
Estimates estimates_solve_rows() {
  return for_types("poplin::SolveRows", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t size = vertex.getFieldInfo("size").getInitialValue<unsigned>(target);
      const std::size_t rows = vertex.getFieldInfo("rows").size() / std::max<std::size_t>(1, size);
      return VertexPerfEstimate(20 + rows * (10 + size * 12 + size * size / 2), rows * size * size);
    };
  });
}

}  // namespace poplin
#endif
