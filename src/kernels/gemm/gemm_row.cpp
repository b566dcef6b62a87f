#include "kernels/gemm/gemm_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/gemm_row.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Columns [j, n), as far as kVectors whole vectors of them are left, of kRows rows of B: as many elements of A stay in registers. Returns
// the first column left.
template <unsigned kRows, unsigned kVectors, class D>
HWY_ATTR HWY_INLINE unsigned columns(D d, unsigned j, unsigned n, const float* a, const float* b, std::size_t ldb, float* c, bool adds) {
  hn::Vec<D> of_a[kRows];
  for (unsigned r = 0; r < kRows; ++r) of_a[r] = hn::Set(d, a[r]);
  const unsigned lanes = static_cast<unsigned>(hn::Lanes(d));
  for (; j + kVectors * lanes <= n; j += kVectors * lanes) {
    hn::Vec<D> sum[kVectors];
    for (unsigned v = 0; v < kVectors; ++v) sum[v] = adds ? hn::LoadU(d, c + j + v * lanes) : hn::Zero(d);
    for (unsigned r = 0; r < kRows; ++r)
      for (unsigned v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(of_a[r], hn::LoadU(d, b + r * ldb + j + v * lanes), sum[v]);
    for (unsigned v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, c + j + v * lanes);
  }
  return j;
}

// n columns, fewer than a vector has lanes, of k rows.
template <class D>
HWY_ATTR HWY_INLINE void last_columns(D d, unsigned n, unsigned k, const float* a, const float* b, std::size_t ldb, float* c, bool adds) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // what a mask leaves out is not read
  const auto mask = hn::FirstN(d, n);
  hn::Vec<D> sum = adds ? hn::MaskedLoad(mask, d, c) : hn::Zero(d);
  for (unsigned l = 0; l < k; ++l) sum = hn::MulAdd(hn::Set(d, a[l]), hn::MaskedLoad(mask, d, b + l * ldb), sum);
  hn::BlendedStore(sum, mask, d, c);
#else
  const hn::CappedTag<float, 1> one;
  for (unsigned l = 0; l < k; ++l) columns<1, 1>(one, 0, n, a + l, b + l * ldb, ldb, c, adds || l > 0);
#endif
}

template <unsigned kRows, class D>
HWY_ATTR void rows(D d, unsigned n, const float* a, const float* b, std::size_t ldb, float* c, bool adds) {
  unsigned done = columns<kRows, 2>(d, 0, n, a, b, ldb, c, adds);
  done = columns<kRows, 1>(d, done, n, a, b, ldb, c, adds);
  if (done < n) last_columns(d, n - done, kRows, a, b + done, ldb, c + done, adds);
}

HWY_ATTR void multiply(unsigned n, unsigned k, const float* a, const float* b, std::size_t ldb, float* c, bool accumulate) {
  constexpr unsigned kMany = 4;  // streams that a core follows well beside C's: with 16 memory gives a quarter less
  const hn::CappedTag<float, 16> d;
  if (n < hn::Lanes(d)) return last_columns(d, n, k, a, b, ldb, c, accumulate);  // the sums stay in a register
  unsigned l = 0;
  for (; l + kMany <= k; l += kMany) rows<kMany>(d, n, a + l, b + l * ldb, ldb, c, accumulate || l > 0);
  for (; l < k; ++l) rows<1>(d, n, a + l, b + l * ldb, ldb, c, accumulate || l > 0);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {

HWY_EXPORT(multiply);

void multiply_row(unsigned n, unsigned k, const float* a, const float* b, std::size_t ldb, float* c, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply)(n, k, a, b, ldb, c, accumulate);
}

}  // namespace pando::kernels
#endif
