#include "kernels/elementwise/nonlinearity.h"

#include <cstddef>

#include "kernels/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/nonlinearity.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "kernels/elementwise/nonlinearity_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {

// u, so that gelu(x) = x sigmoid(u), and its derivative.
HWY_INLINE V gelu_argument(V x) {
  const V z = hn::Mul(x, x);
  return hn::Mul(hn::Mul(x, set(1.5957691216057308f)), hn::MulAdd(z, set(0.044715f), set(1)));
}
HWY_INLINE V gelu_slope(V x) { return hn::Mul(set(1.5957691216057308f), hn::MulAdd(hn::Mul(x, x), set(3 * 0.044715f), set(1))); }

// x sigmoid(u), 0 where the second factor is 0 (x may be -infinity).
HWY_INLINE V gated(V x, V gate) { return hn::IfThenElse(hn::Eq(gate, set(0)), set(0), hn::Mul(x, gate)); }

template <Activation A>
HWY_INLINE V value(V x) {
  if constexpr (A == Activation::sigmoid)
    return sigmoid_of(x);
  else if constexpr (A == Activation::hard_sigmoid) {
    const V line = hn::MulAdd(x, set(0.2f), set(0.5f));
    return hn::Max(set(0), hn::Min(set(1), line));
  } else if constexpr (A == Activation::relu)
    return hn::IfThenElse(hn::Lt(x, set(0)), set(0), x);
  else if constexpr (A == Activation::tanh)
    return tanh_of(x);
  else if constexpr (A == Activation::gelu)
    return gated(x, sigmoid_of(gelu_argument(x)));
  else if constexpr (A == Activation::gelu_erf)
    return gated(x, normal_share(x));
  else
    return gated(x, sigmoid_of(x));
}

// x s(u) has the slope s + x u' s (1 - s).
HWY_INLINE V slope_of_gated(V x, V s, V u_slope) {
  const V curved = hn::Mul(hn::Mul(s, hn::Sub(set(1), s)), hn::Mul(x, u_slope));
  return hn::Add(s, hn::IfThenElse(hn::Lt(hn::Abs(x), set(40)), curved, set(0)));
}

template <Activation A>
HWY_INLINE V slope(V a) {
  if constexpr (A == Activation::sigmoid)
    return hn::Mul(a, hn::Sub(set(1), a));
  else if constexpr (A == Activation::hard_sigmoid)
    return hn::IfThenElse(hn::And(hn::Gt(a, set(0)), hn::Lt(a, set(1))), set(0.2f), set(0));
  else if constexpr (A == Activation::tanh)
    return hn::NegMulAdd(a, a, set(1));
  else if constexpr (A == Activation::gelu)
    return slope_of_gated(a, sigmoid_of(gelu_argument(a)), gelu_slope(a));
  else if constexpr (A == Activation::gelu_erf) {
    const V density = hn::Mul(exp_of_half_square(a, set(0)), set(0.39894228040143268f));
    return hn::Add(normal_share(a), hn::IfThenElse(hn::Lt(hn::Abs(a), set(20)), hn::Mul(a, density), set(0)));
  } else
    return slope_of_gated(a, sigmoid_of(a), set(1));
}

template <Activation A>
HWY_INLINE V gradient_of(V act, V gradient) {
  if constexpr (A == Activation::relu)
    return hn::IfThenElse(hn::Gt(act, set(0)), gradient, set(0));
  else
    return hn::Mul(gradient, slope<A>(act));
}

// What is left behind whole vectors goes through the same loop as one of them, so that each function is compiled once.
template <class F>
struct Part {
  HWY_ALIGN typename F::T lanes[HWY_MAX_BYTES / sizeof(float)];
  Part(const typename F::T* from, std::size_t n) { F::store(load_part<F>(from, n, {}), lanes); }
  void give(typename F::T* to, std::size_t n) const { store_part<F>(F::load(lanes), to, n); }
};

template <class F, Activation A>
void map(std::size_t n, const void* from, void* to) {
  using T = typename F::T;
  const T* in = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  const std::size_t lanes = hn::Lanes(Floats());
  for (; n >= lanes; n -= lanes, in += lanes, out += lanes) F::store(value<A>(F::load(in)), out);
  if (n == 0) return;
  Part<F> part(in, n);
  map<F, A>(lanes, part.lanes, part.lanes);
  part.give(out, n);
}

template <class F, Activation A>
void map_gradient(std::size_t n, const void* activations, const void* gradients, void* to) {
  using T = typename F::T;
  const T *act = static_cast<const T*>(activations), *gradient = static_cast<const T*>(gradients);
  T* out = static_cast<T*>(to);
  const std::size_t lanes = hn::Lanes(Floats());
  for (; n >= lanes; n -= lanes, act += lanes, gradient += lanes, out += lanes)
    F::store(gradient_of<A>(F::load(act), F::load(gradient)), out);
  if (n == 0) return;
  Part<F> part(act, n), part_of_gradient(gradient, n);
  map_gradient<F, A>(lanes, part.lanes, part_of_gradient.lanes, part.lanes);
  part.give(out, n);
}

#define PANDO_FOR_ACTIVATIONS(CALL)                                       \
  switch (f) {                                                            \
    case Activation::sigmoid: return CALL(Activation::sigmoid);           \
    case Activation::hard_sigmoid: return CALL(Activation::hard_sigmoid); \
    case Activation::relu: return CALL(Activation::relu);                 \
    case Activation::tanh: return CALL(Activation::tanh);                 \
    case Activation::gelu: return CALL(Activation::gelu);                 \
    case Activation::gelu_erf: return CALL(Activation::gelu_erf);         \
    default: return CALL(Activation::swish);                              \
  }

void activation(Activation f, bool half, std::size_t n, const void* in, void* out) {
#define CALL(A) half ? map<F16, A>(n, in, out) : map<F32, A>(n, in, out)
  PANDO_FOR_ACTIVATIONS(CALL)
#undef CALL
}
void activation_gradient(Activation f, bool half, std::size_t n, const void* act, const void* gradient, void* out) {
#define CALL(A) half ? map_gradient<F16, A>(n, act, gradient, out) : map_gradient<F32, A>(n, act, gradient, out)
  PANDO_FOR_ACTIVATIONS(CALL)
#undef CALL
}

}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {

HWY_EXPORT(activation);
HWY_EXPORT(activation_gradient);

}  // namespace
}  // namespace pando::kernels

using namespace pando::kernels;

void pando_activation_f32(Activation f, unsigned long n, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(activation)(f, false, n, in, out);
}
void pando_activation_f16(Activation f, unsigned long n, const void* in, void* out) {
  HWY_DYNAMIC_DISPATCH(activation)(f, true, n, in, out);
}
void pando_activation_gradient_f32(Activation f, unsigned long n, const float* act, const float* gradient, float* out) {
  HWY_DYNAMIC_DISPATCH(activation_gradient)(f, false, n, act, gradient, out);
}
void pando_activation_gradient_f16(Activation f, unsigned long n, const void* act, const void* gradient, void* out) {
  HWY_DYNAMIC_DISPATCH(activation_gradient)(f, true, n, act, gradient, out);
}
#endif
