#include "kernels/rows/softmax.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "kernels/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/softmax.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "kernels/elementwise/nonlinearity_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {

// Sums and maxima are kept in two vectors, so that one operation does not wait for the one before.
template <class F>
float max_of(std::size_t n, const typename F::T* in) {
  const std::size_t lanes = hn::Lanes(Floats());
  V a = set(-std::numeric_limits<float>::infinity()), b = a;
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, F::load(in + i));
    b = hn::Max(b, F::load(in + i + lanes));
  }
  for (; i < n; i += lanes) {
    const std::size_t part = n - i;
    b = hn::Max(b, part >= lanes ? F::load(in + i) : load_part<F>(in + i, part, in[i]));
  }
  return hn::GetLane(hn::MaxOfLanes(Floats(), hn::Max(a, b)));
}

// The sum of exp(x - max); with `keep` the terms go to `out`.
template <class F, bool keep>
float sum_of_exp(std::size_t n, const typename F::T* in, float max, typename F::T* out) {
  const std::size_t lanes = hn::Lanes(Floats());
  const V m = set(max);
  V a = hn::Zero(Floats()), b = a;
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const V x = exp_of(hn::Sub(F::load(in + i), m)), y = exp_of(hn::Sub(F::load(in + i + lanes), m));
    if constexpr (keep) {
      F::store(x, out + i);
      F::store(y, out + i + lanes);
    }
    a = hn::Add(a, x);
    b = hn::Add(b, y);
  }
  for (; i + lanes <= n; i += lanes) {
    const V x = exp_of(hn::Sub(F::load(in + i), m));
    if constexpr (keep) F::store(x, out + i);
    a = hn::Add(a, x);
  }
  if (i < n) {
    const V x = exp_of(hn::Sub(load_part<F>(in + i, n - i, in[i]), m));
    if constexpr (keep) store_part<F>(x, out + i, n - i);
    b = hn::Add(b, hn::IfThenElseZero(hn::FirstN(Floats(), n - i), x));
  }
  return hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(a, b)));
}

template <class F, class Map>
HWY_INLINE void map(std::size_t n, const typename F::T* in, typename F::T* out, const Map& f) {
  using T = typename F::T;
  for_vectors(
      n, [&](std::size_t i) HWY_ATTR { F::store(f(F::load(in + i)), out + i); },
      [&](std::size_t i, std::size_t rest) HWY_ATTR { store_part<F>(f(load_part<F>(in + i, rest, T{})), out + i, rest); });
}

template <class F>
void finish(std::size_t n, const typename F::T* in, SoftmaxSummary row, typename F::T* out, float scale, bool log) {
  const V m = set(row.max);
  if (log) {
    const V l = set(std::log(row.sum));
    map<F>(n, in, out, [&](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, m), l); });
  } else {
    const V factor = set(scale / row.sum);
    map<F>(n, in, out, [&](V x) HWY_ATTR { return hn::Mul(exp_of(hn::Sub(x, m)), factor); });
  }
}

template <class F>
void row(std::size_t n, const typename F::T* in, typename F::T* out, float scale, bool log) {
  const float max = max_of<F>(n, in);
  // Floats keep their exponentials on the way; halves would lose digits.
  if (std::is_same_v<F, F32> && !log) {
    const V factor = set(scale / sum_of_exp<F, true>(n, in, max, out));
    return map<F>(n, out, out, [&](V x) HWY_ATTR { return hn::Mul(x, factor); });
  }
  finish<F>(n, in, {max, sum_of_exp<F, false>(n, in, max, nullptr)}, out, scale, log);
}

template <class F>
void rows_of(std::size_t rows, std::size_t columns, const void* from, void* to, float scale, bool log) {
  const auto* in = static_cast<const typename F::T*>(from);
  auto* out = static_cast<typename F::T*>(to);
  for (std::size_t r = 0; r < rows; ++r) row<F>(columns, in + r * columns, out + r * columns, scale, log);
}
void softmax_rows(bool half, std::size_t rows, std::size_t columns, const void* in, void* out, float scale, bool log) {
  half ? rows_of<F16>(rows, columns, in, out, scale, log) : rows_of<F32>(rows, columns, in, out, scale, log);
}

template <class F>
SoftmaxSummary summary_of(std::size_t n, const void* from) {
  const auto* in = static_cast<const typename F::T*>(from);
  const float max = max_of<F>(n, in);
  return {max, sum_of_exp<F, false>(n, in, max, nullptr)};
}
SoftmaxSummary softmax_summary(bool half, std::size_t n, const void* in) { return half ? summary_of<F16>(n, in) : summary_of<F32>(n, in); }

void softmax_finish(bool half, std::size_t n, const void* in, SoftmaxSummary row, void* out, float scale, bool log) {
  if (half) return finish<F16>(n, static_cast<const F16::T*>(in), row, static_cast<F16::T*>(out), scale, log);
  finish<F32>(n, static_cast<const float*>(in), row, static_cast<float*>(out), scale, log);
}

template <class F>
float dot_of(std::size_t n, const void* first, const void* second) {
  const auto *a = static_cast<const typename F::T*>(first), *b = static_cast<const typename F::T*>(second);
  V sum = hn::Zero(Floats());
  for_vectors(
      n, [&](std::size_t i) HWY_ATTR { sum = hn::MulAdd(F::load(a + i), F::load(b + i), sum); },
      [&](std::size_t i, std::size_t rest) HWY_ATTR {
        using T = typename F::T;
        sum = hn::MulAdd(load_part<F>(a + i, rest, T{}), load_part<F>(b + i, rest, T{}), sum);
      });
  return hn::GetLane(hn::SumOfLanes(Floats(), sum));
}
float dot(bool half, std::size_t n, const void* a, const void* b) { return half ? dot_of<F16>(n, a, b) : dot_of<F32>(n, a, b); }

template <class F>
void gradient_of(std::size_t n, const void* activations, const void* gradients, float sum, void* to) {
  using T = typename F::T;
  const T *y = static_cast<const T*>(activations), *g = static_cast<const T*>(gradients);
  T* out = static_cast<T*>(to);
  const V d = set(sum);
  for_vectors(
      n, [&](std::size_t i) HWY_ATTR { F::store(hn::Mul(F::load(y + i), hn::Sub(F::load(g + i), d)), out + i); },
      [&](std::size_t i, std::size_t rest)
          HWY_ATTR { store_part<F>(hn::Mul(load_part<F>(y + i, rest, T{}), hn::Sub(load_part<F>(g + i, rest, T{}), d)), out + i, rest); });
}
void softmax_gradient(bool half, std::size_t n, const void* act, const void* gradient, float dot, void* out) {
  half ? gradient_of<F16>(n, act, gradient, dot, out) : gradient_of<F32>(n, act, gradient, dot, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_summary);
HWY_EXPORT(softmax_finish);
HWY_EXPORT(dot);
HWY_EXPORT(softmax_gradient);

}  // namespace
}  // namespace pando::kernels

using namespace pando::kernels;

void pando_softmax_rows_f32(unsigned long rows, unsigned long columns, const float* in, float* out, float scale, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_rows)(false, rows, columns, in, out, scale, log);
}
void pando_softmax_rows_f16(unsigned long rows, unsigned long columns, const void* in, void* out, float scale, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_rows)(true, rows, columns, in, out, scale, log);
}
void pando_softmax_summary_f32(unsigned long n, const float* in, SoftmaxSummary* out) {
  *out = HWY_DYNAMIC_DISPATCH(softmax_summary)(false, n, in);
}
void pando_softmax_summary_f16(unsigned long n, const void* in, SoftmaxSummary* out) {
  *out = HWY_DYNAMIC_DISPATCH(softmax_summary)(true, n, in);
}

void pando_softmax_merge(unsigned long pieces, const SoftmaxSummary* in, SoftmaxSummary* out) {
  float max = in[0].max, sum = 0;
  for (unsigned long i = 1; i < pieces; ++i) max = in[i].max > max ? in[i].max : max;
  // A piece of -infinity alone has a NaN for its sum, and counts nothing beside others.
  for (unsigned long i = 0; i < pieces; ++i)
    if (in[i].max > -std::numeric_limits<float>::infinity() || in[i].max == max) sum += in[i].sum * std::exp(in[i].max - max);
  *out = {max, sum};
}

void pando_softmax_finish_f32(unsigned long n, const float* in, const SoftmaxSummary* row, float* out, float scale, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_finish)(false, n, in, *row, out, scale, log);
}
void pando_softmax_finish_f16(unsigned long n, const void* in, const SoftmaxSummary* row, void* out, float scale, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_finish)(true, n, in, *row, out, scale, log);
}
float pando_dot_f32(unsigned long n, const float* a, const float* b) { return HWY_DYNAMIC_DISPATCH(dot)(false, n, a, b); }
float pando_dot_f16(unsigned long n, const void* a, const void* b) { return HWY_DYNAMIC_DISPATCH(dot)(true, n, a, b); }
void pando_softmax_gradient_f32(unsigned long n, const float* act, const float* gradient, float dot, float* out) {
  HWY_DYNAMIC_DISPATCH(softmax_gradient)(false, n, act, gradient, dot, out);
}
void pando_softmax_gradient_f16(unsigned long n, const void* act, const void* gradient, float dot, void* out) {
  HWY_DYNAMIC_DISPATCH(softmax_gradient)(true, n, act, gradient, dot, out);
}
#endif
