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

// Columns [j, n) whose vectors are whole, of kRows rows of B: as many elements of A stay in registers. Returns the first column left.
template <unsigned kRows, class D>
HWY_ATTR HWY_INLINE unsigned columns(D d, unsigned j, unsigned n, const float* a, const float* b, std::size_t ldb, float* c, bool adds) {
  hn::Vec<D> of_a[kRows];
  for (unsigned r = 0; r < kRows; ++r) of_a[r] = hn::Set(d, a[r]);
  const unsigned lanes = static_cast<unsigned>(hn::Lanes(d));
  for (; j + lanes <= n; j += lanes) {
    auto sum = adds ? hn::LoadU(d, c + j) : hn::Zero(d);
    for (unsigned r = 0; r < kRows; ++r) sum = hn::MulAdd(of_a[r], hn::LoadU(d, b + r * ldb + j), sum);
    hn::StoreU(sum, d, c + j);
  }
  return j;
}

template <unsigned kRows>
HWY_ATTR void rows(unsigned n, const float* a, const float* b, std::size_t ldb, float* c, bool adds) {
  const unsigned done = columns<kRows>(hn::CappedTag<float, 16>(), 0, n, a, b, ldb, c, adds);
  columns<kRows>(hn::CappedTag<float, 1>(), done, n, a, b, ldb, c, adds);
}

HWY_ATTR void multiply(unsigned n, unsigned k, const float* a, const float* b, std::size_t ldb, float* c, bool accumulate) {
  // Half of the registers hold elements of A. Streams of more rows than that gain nothing.
  constexpr unsigned kMany = hn::MaxLanes(hn::CappedTag<float, 16>()) == 16 ? 16 : 8, kSome = 4;
  unsigned l = 0;
  for (; l + kMany <= k; l += kMany) rows<kMany>(n, a + l, b + l * ldb, ldb, c, accumulate || l > 0);
  for (; l + kSome <= k; l += kSome) rows<kSome>(n, a + l, b + l * ldb, ldb, c, accumulate || l > 0);
  for (; l < k; ++l) rows<1>(n, a + l, b + l * ldb, ldb, c, accumulate || l > 0);
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
