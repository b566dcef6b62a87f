#include "kernels/half_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/half_vectors.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>

#include "kernels/half_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace pando::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The first elements of `n`, as many as fill vectors of `wide`; returns how many.
template <class D>
std::size_t widen_vectors(D wide, const hwy::float16_t* from, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(load_halfs(wide, from + i), wide, to + i);
  return i;
}

template <class D>
std::size_t narrow_vectors(D wide, const float* from, hwy::float16_t* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) store_halfs(wide, hn::LoadU(wide, from + i), to + i);
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

HWY_EXPORT(to_float);
HWY_EXPORT(to_half);

void widen(const void* halfs, float* to, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(to_float)(static_cast<const hwy::float16_t*>(halfs), to, n);
}
void narrow(const float* from, void* halfs, std::size_t n) { HWY_DYNAMIC_DISPATCH(to_half)(from, static_cast<hwy::float16_t*>(halfs), n); }

}  // namespace pando::kernels
#endif
