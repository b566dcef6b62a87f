// A part of a product of matrices that lie whole on one tile, on the CPU device: rows of C = A * B, where `a` and `b` are the whole
// operands from their first element on, and element (i, j) of this part is at begin + i * row + j * column.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <cstddef>

#include "kernels/gemm.h"

namespace poplin {

template <class T>
class ViewProduct : public poplar::Vertex {
 public:
  ViewProduct();
  poplar::Input<poplar::Vector<T>> a, b;
  poplar::Vector<poplar::Output<poplar::Vector<float>>> c;  // rows; one entry for rows that follow each other
  const unsigned rows;
  const unsigned k;
  const unsigned a_begin, a_row, a_column;
  const unsigned b_begin, b_row, b_column;

  bool compute() {
    constexpr bool is_half = sizeof(T) == 2;
    const T *from_a = &a[0] + a_begin, *from_b = &b[0] + b_begin;
    const PandoMatrix y{from_b, b_row, b_column, is_half};
    float* to = &c[0][0];
    if (c.size() == 1) {
      const unsigned columns = c[0].size() / rows;
      pando_gemm_packed(rows, columns, k, {from_a, a_row, a_column, is_half}, y, to, columns);
      return true;
    }
    const unsigned columns = c[0].size();
    const std::ptrdiff_t stride = &c[1][0] - to;
    bool even = stride > 0;
    for (unsigned i = 2; i < rows; ++i) even = even && &c[i][0] - &c[i - 1][0] == stride;
    if (even) {
      pando_gemm_packed(rows, columns, k, {from_a, a_row, a_column, is_half}, y, to, static_cast<std::size_t>(stride));
      return true;
    }
    for (unsigned i = 0; i < rows; ++i)
      pando_gemm_packed(1, columns, k, {from_a + static_cast<std::size_t>(i) * a_row, a_row, a_column, is_half}, y, &c[i][0], columns);
    return true;
  }
};

template class ViewProduct<float>;
template class ViewProduct<half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Two products a cycle.
Estimates estimates_view_product() {
  using namespace poplar;
  return for_types("poplin::ViewProduct", {FLOAT, HALF}, [](const Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const std::uint64_t k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target);
      const FieldData c = vertex.getFieldInfo("c");
      const std::uint64_t elements = c.size() * c.getSizeAtIndex(0);
      return VertexPerfEstimate(30 + elements * k / 2, 2 * elements * k);
    };
  });
}

}  // namespace poplin
#endif
