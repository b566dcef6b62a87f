#include "kernels/rows/norm_rows.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/norm_rows.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The sum of f(i) over all whole vectors, in four sums side by side; what is left is the caller's.
template <class F>
HWY_ATTR HWY_INLINE float sum_of_vectors(std::size_t n, const F& f) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, f(i));
    s1 = hn::Add(s1, f(i + lanes));
    s2 = hn::Add(s2, f(i + 2 * lanes));
    s3 = hn::Add(s3, f(i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, f(i));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

std::size_t whole_vectors(std::size_t n) { return n - n % hn::Lanes(D()); }

HWY_ATTR void norm_rows(std::size_t rows, std::size_t n, const float* x, const float* gamma, const float* beta, float eps, float* y,
                        float* means, float* inverses) {
  const D d;
  const std::size_t whole = whole_vectors(n);
  const float share = 1.0f / static_cast<float>(n);
  for (std::size_t r = 0; r < rows; ++r, x += n, y += n) {
    float sum = sum_of_vectors(n, [&](std::size_t i) HWY_ATTR { return hn::LoadU(d, x + i); });
    for (std::size_t i = whole; i < n; ++i) sum += x[i];
    const float mean = sum * share;
    const V m = hn::Set(d, mean);
    float squares = sum_of_vectors(n, [&](std::size_t i) HWY_ATTR {
      const V difference = hn::Sub(hn::LoadU(d, x + i), m);
      return hn::Mul(difference, difference);
    });
    for (std::size_t i = whole; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float inverse = 1.0f / std::sqrt(squares * share + eps);
    const V v = hn::Set(d, inverse);
    for (std::size_t i = 0; i < whole; i += hn::Lanes(d)) {
      const V h = hn::Mul(hn::Sub(hn::LoadU(d, x + i), m), v);
      hn::StoreU(hn::MulAdd(h, hn::LoadU(d, gamma + i), hn::LoadU(d, beta + i)), d, y + i);
    }
    for (std::size_t i = whole; i < n; ++i) y[i] = (x[i] - mean) * inverse * gamma[i] + beta[i];
    means[r] = mean;
    inverses[r] = inverse;
  }
}

HWY_ATTR void norm_rows_gradient(std::size_t rows, std::size_t n, const float* x, const float* dy, const float* gamma, const float* means,
                                 const float* inverses, float* dx, float* dgamma, float* dbeta) {
  const D d;
  const std::size_t whole = whole_vectors(n), lanes = hn::Lanes(d);
  const float share = 1.0f / static_cast<float>(n);
  std::fill_n(dgamma, n, 0.0f);
  std::fill_n(dbeta, n, 0.0f);
  for (std::size_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
    const float mean = means[r], inverse = inverses[r];
    const V m = hn::Set(d, mean), v = hn::Set(d, inverse);
    V of_g = hn::Zero(d), of_gh = hn::Zero(d), more_g = hn::Zero(d), more_gh = hn::Zero(d);
    for (std::size_t i = 0; i < whole; i += lanes) {
      const V h = hn::Mul(hn::Sub(hn::LoadU(d, x + i), m), v), t = hn::LoadU(d, dy + i), g = hn::Mul(t, hn::LoadU(d, gamma + i));
      hn::StoreU(hn::MulAdd(t, h, hn::LoadU(d, dgamma + i)), d, dgamma + i);
      hn::StoreU(hn::Add(t, hn::LoadU(d, dbeta + i)), d, dbeta + i);
      std::swap(of_g, more_g);  // two sums side by side
      std::swap(of_gh, more_gh);
      of_g = hn::Add(of_g, g);
      of_gh = hn::MulAdd(g, h, of_gh);
    }
    float g_sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(of_g, more_g))), gh_sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(of_gh, more_gh)));
    for (std::size_t i = whole; i < n; ++i) {
      const float h = (x[i] - mean) * inverse, g = dy[i] * gamma[i];
      dgamma[i] += dy[i] * h;
      dbeta[i] += dy[i];
      g_sum += g;
      gh_sum += g * h;
    }
    const float g_mean = g_sum * share, gh_mean = gh_sum * share;
    const V a = hn::Set(d, g_mean), b = hn::Set(d, gh_mean);
    for (std::size_t i = 0; i < whole; i += lanes) {
      const V h = hn::Mul(hn::Sub(hn::LoadU(d, x + i), m), v), g = hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, gamma + i));
      hn::StoreU(hn::Mul(hn::NegMulAdd(h, b, hn::Sub(g, a)), v), d, dx + i);
    }
    for (std::size_t i = whole; i < n; ++i) dx[i] = (dy[i] * gamma[i] - g_mean - (x[i] - mean) * inverse * gh_mean) * inverse;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {

HWY_EXPORT(norm_rows);
HWY_EXPORT(norm_rows_gradient);

}  // namespace
}  // namespace pando::kernels

void pando_norm_rows_f32(unsigned long rows, unsigned long columns, const float* x, const float* gamma, const float* beta, float eps,
                         float* y, float* mean, float* inverse) {
  using namespace pando::kernels;
  HWY_DYNAMIC_DISPATCH(norm_rows)(rows, columns, x, gamma, beta, eps, y, mean, inverse);
}

void pando_norm_rows_gradient_f32(unsigned long rows, unsigned long columns, const float* x, const float* dy, const float* gamma,
                                  const float* mean, const float* inverse, float* dx, float* dgamma, float* dbeta) {
  using namespace pando::kernels;
  HWY_DYNAMIC_DISPATCH(norm_rows_gradient)(rows, columns, x, dy, gamma, mean, inverse, dx, dgamma, dbeta);
}
#endif
