// One block of a product of matrices in blocks: C (+)= A * B, row-major. A comes in parts of whole rows, each cut along k; B cut along k, each
// of these in parts of whole columns. All pieces are contiguous and row-major, and read where they lie.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include <type_traits>

#include "kernels/gemm.h"

namespace poplin {

static inline unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

template <bool accumulate>
class BlockedProduct : public poplar::SupervisorVertex {
 public:
  BlockedProduct();
  poplar::Vector<poplar::Input<poplar::Vector<float>>> a, b;
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
    const unsigned i = l / a_width, h = l / b_height, from_a = i * a_width, width = least(b_width, n - j * b_width), lda = least(a_width, k - from_a);
    const float* const right = &b[h * columns + j][(l - h * b_height) * width];
    float* to = &c[j * b_width];
    for (unsigned p = i; p < a.size(); p += across) {
      const unsigned rows = a[p].size() / lda;
      pando_gemm_f32(rows, width, end - l, &a[p][l - from_a], lda, right, width, to, n, accumulate || l > 0);
      to += rows * n;
    }
  }
};

template class BlockedProduct<false>;
template class BlockedProduct<true>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

#include <algorithm>

namespace poplin {

using namespace pando::poplibs;

// The operand that makes the unit's work shorter stays in it.
Estimates estimates_blocked_product() {
  const auto cost = [](const VertexIntrospector& vertex, const Target& target) {
    const std::uint64_t k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target), n = vertex.getFieldInfo("n").getInitialValue<unsigned>(target);
    const std::uint64_t m = vertex.getFieldInfo("c").size() / n;
    const std::uint64_t cycles = std::min(plan::amp_cycles(target, m, n, k, poplar::FLOAT, poplar::FLOAT), plan::amp_cycles(target, n, m, k, poplar::FLOAT, poplar::FLOAT));
    return VertexPerfEstimate(cycles, 2 * m * n * k);
  };
  return {{"poplin::BlockedProduct<false>", cost}, {"poplin::BlockedProduct<true>", cost}};
}

}  // namespace poplin
#endif
