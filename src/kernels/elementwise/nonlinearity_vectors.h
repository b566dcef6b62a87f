// Vectors of float or half elements and exp, tanh and erfc of them, for kernels that foreach_target.h compiles once per instruction set.
// Included once per instruction set: no include guard of its own.

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/half_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using V = hn::VFromD<Floats>;

// How elements lie in memory; always computed as floats.
struct F32 {
  using T = float;
  static HWY_INLINE V load(const T* from) { return hn::LoadU(Floats(), from); }
  static HWY_INLINE void store(V v, T* to) { hn::StoreU(v, Floats(), to); }
};
struct F16 {
  using T = hwy::float16_t;
  static HWY_INLINE V load(const T* from) { return load_halfs(Floats(), from); }
  static HWY_INLINE void store(V v, T* to) { store_halfs(Floats(), v, to); }
};

// Calls f(i, n) for whole vectors, then once for what is left (n elements, fewer than a vector).
template <class Whole, class Rest>
HWY_INLINE void for_vectors(std::size_t n, const Whole& whole, const Rest& rest) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) whole(i);
  if (i < n) rest(i, n - i);
}

// The first n elements of a vector; the others are `other`.
template <class F>
HWY_INLINE V load_part(const typename F::T* from, std::size_t n, typename F::T other) {
  HWY_ALIGN typename F::T buffer[HWY_MAX_BYTES / sizeof(float)];
  for (std::size_t i = 0; i < hn::Lanes(Floats()); ++i) buffer[i] = i < n ? from[i] : other;
  return F::load(buffer);
}
template <class F>
HWY_INLINE void store_part(V v, typename F::T* to, std::size_t n) {
  HWY_ALIGN typename F::T buffer[HWY_MAX_BYTES / sizeof(float)];
  F::store(v, buffer);
  for (std::size_t i = 0; i < n; ++i) to[i] = buffer[i];
}

HWY_INLINE V set(float x) { return hn::Set(Floats(), x); }

// e^x. Highway's makes 0 of NaN; ours keeps it.
HWY_INLINE V exp_of(V x) { return hn::IfThenElse(hn::Eq(x, x), hn::Exp(Floats(), hn::Min(set(104), x)), x); }

HWY_INLINE V sigmoid_of(V x) { return hn::Div(set(1), hn::Add(set(1), exp_of(hn::Neg(x)))); }

// For |x| < 0.6 an odd polynomial (relative error 1e-7), beyond it the formula.
HWY_INLINE V tanh_of(V x) {
  const V a = hn::Abs(x), z = hn::Mul(x, x);
  V p = set(-5.70498872745e-3f);
  p = hn::MulAdd(p, z, set(2.06390887954e-2f));
  p = hn::MulAdd(p, z, set(-5.37397155531e-2f));
  p = hn::MulAdd(p, z, set(1.33314422036e-1f));
  p = hn::MulAdd(p, z, set(-3.33332819422e-1f));
  const V small = hn::MulAdd(hn::Mul(p, z), x, x);
  const V large = hn::Sub(set(1), hn::Div(set(2), hn::Add(exp_of(hn::Add(a, a)), set(1))));
  return hn::IfThenElse(hn::Lt(a, set(0.625f)), small, hn::CopySign(large, x));
}

// exp(-x^2 / 2), with the rounding of x^2 made good.
HWY_INLINE V exp_of_half_square(V x, V more) {
  const V c = hn::Min(hn::Abs(x), set(20)), z = hn::Mul(c, c), rest = hn::MulSub(c, c, z);
  return hn::Mul(exp_of(hn::Mul(z, set(-0.5f))), exp_of(hn::MulAdd(rest, set(-0.5f), more)));
}

// Phi(x) = erfc(-x / sqrt(2)) / 2, the share of a normal distribution below x, with a relative error of some 1e-7 (Numerical Recipes'
// Chebyshev fit of erfc).
HWY_INLINE V normal_share(V x) {
  const V a = hn::Mul(hn::Abs(x), set(0.70710678118654752f)), t = hn::Div(set(1), hn::MulAdd(a, set(0.5f), set(1)));
  V p = set(0.17087277f);
  p = hn::MulAdd(p, t, set(-0.82215223f));
  p = hn::MulAdd(p, t, set(1.48851587f));
  p = hn::MulAdd(p, t, set(-1.13520398f));
  p = hn::MulAdd(p, t, set(0.27886807f));
  p = hn::MulAdd(p, t, set(-0.18628806f));
  p = hn::MulAdd(p, t, set(0.09678418f));
  p = hn::MulAdd(p, t, set(0.37409196f));
  p = hn::MulAdd(p, t, set(1.00002368f));
  p = hn::MulAdd(p, t, set(-1.26551223f));
  const V tail = hn::Mul(hn::Mul(t, set(0.5f)), exp_of_half_square(x, p));
  const V share = hn::IfThenElse(hn::Lt(x, set(0)), tail, hn::Sub(set(1), tail));
  return hn::IfThenElse(hn::Eq(x, x), share, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();
