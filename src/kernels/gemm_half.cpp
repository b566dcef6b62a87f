// Products of halfs: chunks of the operands become floats in buffers that fit the caches, and are multiplied as floats.
#include "kernels/gemm.h"

#include <algorithm>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_half.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The first elements of `n`, as many as fill vectors of `wide`; returns how many.
template <class D>
std::size_t widen_vectors(D wide, const hwy::float16_t* from, float* to, std::size_t n) {
  const hn::Rebind<hwy::float16_t, D> narrow;
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::PromoteTo(wide, hn::LoadU(narrow, from + i)), wide, to + i);
  return i;
}

template <class D>
std::size_t narrow_vectors(D wide, const float* from, hwy::float16_t* to, std::size_t n) {
  const hn::Rebind<hwy::float16_t, D> narrow;
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::DemoteTo(narrow, hn::LoadU(wide, from + i)), narrow, to + i);
  return i;
}

void to_float(const hwy::float16_t* from, float* to, std::size_t n) {
  const std::size_t done = widen_vectors(hn::ScalableTag<float>(), from, to, n);
  widen_vectors(hn::CappedTag<float, 1>(), from + done, to + done, n - done);
}

void to_half(const float* from, hwy::float16_t* to, std::size_t n) {
  const std::size_t done = narrow_vectors(hn::ScalableTag<float>(), from, to, n);
  narrow_vectors(hn::CappedTag<float, 1>(), from + done, to + done, n - done);
}

}  // namespace pando::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {

HWY_EXPORT(to_float);
HWY_EXPORT(to_half);

constexpr unsigned kRows = 128, kColumns = 64, kDepth = 256, kRowsAtOnce = 32;

const hwy::float16_t* half_at(const void* base, std::size_t index) { return static_cast<const hwy::float16_t*>(base) + index; }

// C[m x n] (+)= A * B for m <= kRows, n <= kColumns, into floats.
void multiply(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, float* c, unsigned ldc, bool accumulate) {
  alignas(64) float wide_a[kRowsAtOnce * kDepth];
  alignas(64) float wide_b[kDepth * kColumns];
  const auto widen = [](const hwy::float16_t* from, float* to, std::size_t count) { HWY_DYNAMIC_DISPATCH(to_float)(from, to, count); };
  for (unsigned at = 0; at < k; at += kDepth) {
    const unsigned depth = std::min(kDepth, k - at);
    for (unsigned l = 0; l < depth; ++l) widen(half_at(b, std::size_t{at + l} * ldb), wide_b + l * n, n);
    for (unsigned row = 0; row < m; row += kRowsAtOnce) {
      const unsigned rows = std::min(kRowsAtOnce, m - row);
      for (unsigned i = 0; i < rows; ++i) widen(half_at(a, std::size_t{row + i} * lda + at), wide_a + i * depth, depth);
      pando_gemm_f32(rows, n, depth, wide_a, depth, wide_b, n, c + std::size_t{row} * ldc, ldc, accumulate || at > 0);
    }
  }
}

template <class Visit>  // visit(row, rows, column, columns)
void for_each_chunk(unsigned m, unsigned n, Visit visit) {
  for (unsigned j = 0; j < n; j += kColumns)
    for (unsigned i = 0; i < m; i += kRows) visit(i, std::min(kRows, m - i), j, std::min(kColumns, n - j));
}

}  // namespace
}  // namespace pando::kernels

void pando_gemm_f16_f32(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, float* c,
                        unsigned ldc, bool accumulate) {
  using namespace pando::kernels;
  for_each_chunk(m, n, [&](unsigned i, unsigned rows, unsigned j, unsigned columns) {
    multiply(rows, columns, k, half_at(a, std::size_t{i} * lda), lda, half_at(b, j), ldb, c + std::size_t{i} * ldc + j, ldc, accumulate);
  });
}

void pando_gemm_f16_f16(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, void* c,
                        unsigned ldc, bool accumulate) {
  using namespace pando::kernels;
  alignas(64) float sums[kRows * kColumns];
  for_each_chunk(m, n, [&](unsigned i, unsigned rows, unsigned j, unsigned columns) {
    auto* const to = static_cast<hwy::float16_t*>(c) + std::size_t{i} * ldc + j;
    for (unsigned r = 0; accumulate && r < rows; ++r) HWY_DYNAMIC_DISPATCH(to_float)(to + std::size_t{r} * ldc, sums + r * columns, columns);
    multiply(rows, columns, k, half_at(a, std::size_t{i} * lda), lda, half_at(b, j), ldb, sums, columns, accumulate);
    for (unsigned r = 0; r < rows; ++r) HWY_DYNAMIC_DISPATCH(to_half)(sums + r * columns, to + std::size_t{r} * ldc, columns);
  });
}
#endif
