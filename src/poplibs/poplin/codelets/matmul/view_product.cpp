// A part of a product of matrices that lie whole on one tile, on the CPU device: rows of C = A * B, where `a` and `b` are the whole
// operands from their first element on, and element (i, j) of this part is at begin + i * row + j * column.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <cstddef>
#include <type_traits>

#include "kernels/gemm/gemm.h"

namespace poplin {

// With `accumulate`, C += scale * A * B.
template <class T, bool accumulate>
class ViewProduct : public poplar::Vertex {
 public:
  ViewProduct();
  poplar::Input<poplar::Vector<T>> a, b;
  poplar::Input<float> scale;
  // Rows; one entry for rows that follow each other.
  poplar::Vector<typename std::conditional<accumulate, poplar::InOut<poplar::Vector<float>>, poplar::Output<poplar::Vector<float>>>::type>
      c;
  const unsigned rows;
  const unsigned k;
  const unsigned a_begin, a_row, a_column;
  const unsigned b_begin, b_row, b_column;

  bool compute() {
    if (c.size() == 1) {
      const unsigned columns = c[0].size() / rows;
      multiply(0, rows, columns, columns);
      return true;
    }
    // Runs of rows at equal distances: where the result lies in parts, as what devices exchange does, each part is one.
    for (unsigned i = 0, end; i < rows; i = end) {
      const std::ptrdiff_t stride = i + 1 < rows ? &c[i + 1][0] - &c[i][0] : 0;
      end = i + 1;
      while (stride > 0 && end < rows && &c[end][0] - &c[end - 1][0] == stride) ++end;
      multiply(i, end - i, c[i].size(), end - i > 1 ? static_cast<std::size_t>(stride) : c[i].size());
    }
    return true;
  }

 private:
  void multiply(unsigned row, unsigned m, unsigned n, std::size_t ldc) {
    constexpr bool is_half = sizeof(T) == 2;
    const T* from_a = &a[0] + a_begin + static_cast<std::size_t>(row) * a_row;
    pando_gemm_packed(m, n, k, {from_a, a_row, a_column, is_half}, {&b[0] + b_begin, b_row, b_column, is_half}, &c[row][0], ldc, *scale,
                      accumulate);
  }
};

template class ViewProduct<float, false>;
template class ViewProduct<float, true>;
template class ViewProduct<half, false>;
template class ViewProduct<half, true>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Two products a cycle.
Estimates estimates_view_product() {
  using namespace poplar;
  const auto cost = [](const VertexIntrospector& vertex, const Target& target) {
    const std::uint64_t k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target);
    const FieldData c = vertex.getFieldInfo("c");
    const std::uint64_t elements = c.size() * c.getSizeAtIndex(0);
    return VertexPerfEstimate(30 + elements * k / 2, 2 * elements * k);
  };
  Estimates out;
  for (const char* type : {"float", "half"})
    for (const char* accumulate : {"false", "true"})
      out.push_back({std::string("poplin::ViewProduct<") + type + "," + accumulate + ">", cost});
  return out;
}

}  // namespace poplin
#endif
