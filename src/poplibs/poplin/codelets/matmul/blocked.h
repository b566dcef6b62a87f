// What the vertices of products in blocks have in common: C (+)= A * B, row-major. A comes in parts of whole rows, each cut along k; B cut
// along k, each of these in parts of whole columns. All pieces are contiguous and row-major, and read where they lie. Sums are of float.
#pragma once

#ifdef __POPC__
#include <poplar/HalfFloat.hpp>

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

// All rows of A by the columns of part j of B, for elements [l, end) of k, which lie in one piece of each.
template <class Vertex>
static inline void multiply_rows(const Vertex& v, float* c, unsigned j, unsigned l, unsigned end, bool accumulate) {
  const unsigned across = (v.k + v.a_width - 1) / v.a_width, columns = (v.n + v.b_width - 1) / v.b_width;
  const unsigned i = l / v.a_width, h = l / v.b_height, from_a = i * v.a_width, width = least(v.b_width, v.n - j * v.b_width),
                 lda = least(v.a_width, v.k - from_a);
  const auto* const right = &v.b[h * columns + j][(l - h * v.b_height) * width];
  float* to = c + j * v.b_width;
  for (unsigned p = i; p < v.a.size(); p += across) {
    const unsigned rows = v.a[p].size() / lda;
    add_product(rows, width, end - l, &v.a[p][l - from_a], lda, right, width, to, v.n, accumulate || l > 0);
    to += rows * v.n;
  }
}

// Of a vertex with the fields a, b, n, k, a_width, b_height and b_width.
template <class Vertex>
static inline void multiply_blocks(const Vertex& v, float* c, bool accumulate) {
  for (unsigned j = 0; j * v.b_width < v.n; ++j)
    for (unsigned l = 0; l < v.k;) {
      const unsigned end = least(v.k, least(l / v.a_width * v.a_width + v.a_width, l / v.b_height * v.b_height + v.b_height));
      multiply_rows(v, c, j, l, end, accumulate);
      l = end;
    }
}

}  // namespace poplin
#else
#include <algorithm>
#include <cstdint>

#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

namespace poplin {

// The operand that makes the unit's work shorter stays in it.
inline poplar::VertexPerfEstimate estimate_blocked(const poplar::VertexIntrospector& vertex, const poplar::Target& target,
                                                   const poplar::Type& type) {
  const std::uint64_t k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target),
                      n = vertex.getFieldInfo("n").getInitialValue<unsigned>(target);
  const std::uint64_t m = vertex.getFieldInfo("c").size() / n;
  const std::uint64_t cycles =
      std::min(plan::amp_cycles(target, m, n, k, type, poplar::FLOAT), plan::amp_cycles(target, n, m, k, type, poplar::FLOAT));
  return poplar::VertexPerfEstimate(cycles, 2 * m * n * k);
}

}  // namespace poplin
#endif
