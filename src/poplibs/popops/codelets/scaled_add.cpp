// a[i] = scale_a * a[i] + scale_b * b[i]: with scales that are fields, or elements of tensors. Floating types compute in float.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popops/data/scaled_add_form.h"

namespace popops {

template <class A>
using Number = typename std::conditional<std::is_same<A, half>::value, float, A>::type;

// The scale as a number of A's kind; negative ones wrap around.
template <class N>
static N number(float scale) {
  if constexpr (std::is_same<N, float>::value)
    return scale;
  else
    return static_cast<N>(static_cast<long long>(scale));
}

template <class A, class B>
static void add_run(A* a, const B* b, unsigned n, Number<A> scale_a, Number<A> scale_b) {
  if (scale_a == Number<A>(1))
    for (unsigned i = 0; i < n; ++i) a[i] = static_cast<A>(static_cast<Number<A>>(a[i]) + scale_b * static_cast<Number<A>>(b[i]));
  else
    for (unsigned i = 0; i < n; ++i) a[i] = static_cast<A>(scale_a * static_cast<Number<A>>(a[i]) + scale_b * static_cast<Number<A>>(b[i]));
}

template <class A, class B>
class ScaledAdd : public poplar::Vertex {
 public:
  ScaledAdd();
  poplar::InOut<poplar::Vector<A>> a;
  poplar::Input<poplar::Vector<B>> b;
  const float scaleA;
  const float scaleB;

  bool compute() {
    add_run<A, B>(&a[0], &b[0], a.size(), number<Number<A>>(scaleA), number<Number<A>>(scaleB));
    return true;
  }
};

template <class A, class B>
class ScaledAdd2d : public poplar::Vertex {
 public:
  ScaledAdd2d();
  poplar::Vector<poplar::InOut<poplar::Vector<A>>> a;
  poplar::Vector<poplar::Input<poplar::Vector<B>>> b;
  const float scaleA;
  const float scaleB;

  bool compute() {
    for (unsigned i = 0; i < a.size(); ++i)
      add_run<A, B>(&a[i][0], &b[i][0], a[i].size(), number<Number<A>>(scaleA), number<Number<A>>(scaleB));
    return true;
  }
};

// The factor of a, given the scale's value.
template <class N>
static N factor_a(unsigned char form, N scale) {
  return form & kScaledAddOneMinusA ? N(1) - scale : form & kScaledAddHasA ? scale : N(1);
}

template <class N>
static N factor_b(unsigned char form, N scale) {
  return form & kScaledAddSubtract ? N(0) - scale : scale;
}

template <class A, class B, class S>
class ScaledAddTensor : public poplar::Vertex {
 public:
  ScaledAddTensor();
  poplar::InOut<poplar::Vector<A>> a;
  poplar::Input<poplar::Vector<B>> b;
  poplar::Input<S> scaleA;
  poplar::Input<S> scaleB;
  const unsigned char form;

  bool compute() {
    using N = Number<A>;
    add_run<A, B>(&a[0], &b[0], a.size(), factor_a<N>(form, *scaleA), factor_b<N>(form, *scaleB));
    return true;
  }
};

template <class A, class B, class S>
class ScaledAddTensor2d : public poplar::Vertex {
 public:
  ScaledAddTensor2d();
  poplar::Vector<poplar::InOut<poplar::Vector<A>>> a;
  poplar::Vector<poplar::Input<poplar::Vector<B>>> b;
  poplar::Input<S> scaleA;
  poplar::Input<S> scaleB;
  const unsigned char form;

  bool compute() {
    using N = Number<A>;
    for (unsigned i = 0; i < a.size(); ++i)
      add_run<A, B>(&a[i][0], &b[i][0], a[i].size(), factor_a<N>(form, *scaleA), factor_b<N>(form, *scaleB));
    return true;
  }
};

#define BY_CONSTANT(A, B)         \
  template class ScaledAdd<A, B>; \
  template class ScaledAdd2d<A, B>;
#define BY_TENSOR(A, B, S)                 \
  template class ScaledAddTensor<A, B, S>; \
  template class ScaledAddTensor2d<A, B, S>;
#define FLOATING(A, B)   \
  BY_CONSTANT(A, B)      \
  BY_TENSOR(A, B, float) \
  BY_TENSOR(A, B, half)
FLOATING(float, float)
FLOATING(float, half)
FLOATING(half, float)
FLOATING(half, half)
BY_CONSTANT(int, int)
BY_TENSOR(int, int, int)
BY_CONSTANT(unsigned int, unsigned int)
BY_TENSOR(unsigned int, unsigned int, unsigned int)

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// Two loads and a store of 64 bits; a load goes with a multiplication and an addition of two floats or four halves.
Estimates estimates_scaled_add() {
  using namespace poplar;
  Estimates out;
  const auto add = [&](const Type& a, const Type& b, std::initializer_list<Type> scales) {
    const double bytes = (a == HALF ? 2 : 4) * 2 + (b == HALF ? 2 : 4);
    const internal::LoopCost cost = {
        .cycles_per_element = bytes / 8, .flops_per_element = a == FLOAT || a == HALF ? 2u : 0u, .overhead = 25};
    const std::string types = a.toString() + "," + b.toString();
    internal::add_pair(out, "ScaledAdd", types, "a", cost);
    for (const Type& scale : scales) internal::add_pair(out, "ScaledAddTensor", types + "," + scale.toString(), "a", cost);
  };
  for (const Type& a : {FLOAT, HALF})
    for (const Type& b : {FLOAT, HALF}) add(a, b, {FLOAT, HALF});
  add(INT, INT, {INT});
  add(UNSIGNED_INT, UNSIGNED_INT, {UNSIGNED_INT});
  return out;
}

}  // namespace popops
#endif
