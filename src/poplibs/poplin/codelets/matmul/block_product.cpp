// One tile's part of a matrix product, on its AMP unit: C (+)= A * B, row-major. A comes in pieces of whole rows, B in pieces of whole
// columns, each piece contiguous and row-major: what the tiles around keep.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <type_traits>

#include "kernels/gemm/gemm.h"

namespace poplin {

static inline void multiply(unsigned m, unsigned n, unsigned k, const float* a, const float* b, float* c, unsigned ldc, bool accumulate) {
  pando_gemm_f32(m, n, k, a, k, b, n, c, ldc, accumulate);
}
static inline void multiply(unsigned m, unsigned n, unsigned k, const half* a, const half* b, float* c, unsigned ldc, bool accumulate) {
  pando_gemm_f16_f32(m, n, k, a, k, b, n, c, ldc, accumulate);
}
static inline void multiply(unsigned m, unsigned n, unsigned k, const half* a, const half* b, half* c, unsigned ldc, bool accumulate) {
  pando_gemm_f16_f16(m, n, k, a, k, b, n, c, ldc, accumulate);
}

template <class In, class Partials, bool accumulate>
class BlockProduct : public poplar::SupervisorVertex {
 public:
  BlockProduct();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> a, b;
  typename std::conditional<accumulate, poplar::InOut<poplar::Vector<Partials>>, poplar::Output<poplar::Vector<Partials>>>::type c;
  const unsigned k;

  bool compute() {
    unsigned columns = 0;
    for (unsigned j = 0; j < b.size(); ++j) columns += b[j].size() / k;
    Partials* to = &c[0];
    for (unsigned i = 0; i < a.size(); ++i) {
      const unsigned rows = a[i].size() / k;
      for (unsigned j = 0, at = 0; j < b.size(); ++j) {
        const unsigned n = b[j].size() / k;
        multiply(rows, n, k, &a[i][0], &b[j][0], to + at, columns, accumulate);
        at += n;
      }
      to += rows * columns;
    }
    return true;
  }
};

template class BlockProduct<float, float, false>;
template class BlockProduct<float, float, true>;
template class BlockProduct<half, float, false>;
template class BlockProduct<half, float, true>;
template class BlockProduct<half, half, false>;
template class BlockProduct<half, half, true>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

#include <algorithm>

namespace poplin {

using namespace pando::poplibs;

// The operand that makes the unit's work shorter stays in it.
Estimates estimates_block_product() {
  using namespace poplar;
  const auto cost = [](const Type& input, const Type& partials) {
    return [input, partials](const VertexIntrospector& vertex, const Target& target) {
      const std::uint64_t k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target);
      std::uint64_t m = 0, n = 0;
      const FieldData a = vertex.getFieldInfo("a"), b = vertex.getFieldInfo("b");
      for (std::size_t i = 0; i < a.size(); ++i) m += a.getSizeAtIndex(i) / k;
      for (std::size_t i = 0; i < b.size(); ++i) n += b.getSizeAtIndex(i) / k;
      const std::uint64_t cycles =
          std::min(plan::amp_cycles(target, m, n, k, input, partials), plan::amp_cycles(target, n, m, k, input, partials));
      return VertexPerfEstimate(cycles, 2 * m * n * k);
    };
  };
  Estimates out;
  for (const auto& [input, partials] : {std::pair(FLOAT, FLOAT), std::pair(HALF, FLOAT), std::pair(HALF, HALF)})
    for (const char* accumulate : {"false", "true"})
      out.push_back(
          {"poplin::BlockProduct<" + input.toString() + "," + partials.toString() + "," + accumulate + ">", cost(input, partials)});
  return out;
}

}  // namespace poplin
#endif
