// One block of a product of matrices in blocks: C (+)= A * B, row-major. A comes in parts of whole rows, each cut along k; B cut along k,
// each of these in parts of whole columns. All pieces are contiguous and row-major, and read where they lie. Sums are of float.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <type_traits>

#include "kernels/gemm/gemm.h"

namespace poplin {

static inline unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

static inline void add_product(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c,
                               unsigned ldc, bool accumulate) {
  pando_gemm_f32(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
static inline void add_product(unsigned m, unsigned n, unsigned k, const half* a, unsigned lda, const half* b, unsigned ldb, float* c,
                               unsigned ldc, bool accumulate) {
  pando_gemm_f16_f32(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

template <class T, bool accumulate>
class BlockedProduct : public poplar::SupervisorVertex {
 public:
  BlockedProduct();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> a, b;
  typename std::conditional<accumulate, poplar::InOut<poplar::Vector<float>>, poplar::Output<poplar::Vector<float>>>::type c;
  const unsigned n, k, a_width, b_height, b_width;

  bool compute() {
    const unsigned across = (k + a_width - 1) / a_width, columns = (n + b_width - 1) / b_width;
    for (unsigned j = 0; j < columns; ++j)
      for (unsigned l = 0; l < k;) {
        const unsigned end = least(k, least(l / a_width * a_width + a_width, l / b_height * b_height + b_height));
        multiply_rows(across, j, columns, l, end);
        l = end;
      }
    return true;
  }

 private:
  // All rows of A by the columns of part j of B, for elements [l, end) of k, which lie in one piece of each.
  void multiply_rows(unsigned across, unsigned j, unsigned columns, unsigned l, unsigned end) {
    const unsigned i = l / a_width, h = l / b_height, from_a = i * a_width, width = least(b_width, n - j * b_width),
                   lda = least(a_width, k - from_a);
    const T* const right = &b[h * columns + j][(l - h * b_height) * width];
    float* to = &c[j * b_width];
    for (unsigned p = i; p < a.size(); p += across) {
      const unsigned rows = a[p].size() / lda;
      add_product(rows, width, end - l, &a[p][l - from_a], lda, right, width, to, n, accumulate || l > 0);
      to += rows * n;
    }
  }
};

template class BlockedProduct<float, false>;
template class BlockedProduct<float, true>;
template class BlockedProduct<half, false>;
template class BlockedProduct<half, true>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

#include <algorithm>

namespace poplin {

using namespace pando::poplibs;

// The operand that makes the unit's work shorter stays in it.
Estimates estimates_blocked_product() {
  const auto cost = [](const poplar::Type& type) {
    return [type](const VertexIntrospector& vertex, const Target& target) {
      const std::uint64_t k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target),
                          n = vertex.getFieldInfo("n").getInitialValue<unsigned>(target);
      const std::uint64_t m = vertex.getFieldInfo("c").size() / n;
      const std::uint64_t cycles =
          std::min(plan::amp_cycles(target, m, n, k, type, poplar::FLOAT), plan::amp_cycles(target, n, m, k, type, poplar::FLOAT));
      return VertexPerfEstimate(cycles, 2 * m * n * k);
    };
  };
  Estimates out;
  for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF})
    for (const char* accumulate : {"false", "true"})
      out.push_back({"poplin::BlockedProduct<" + type.toString() + "," + accumulate + ">", cost(type)});
  return out;
}

}  // namespace poplin
#endif
