// out[i] = in[i], converted. Vertices are by the sizes of the elements (unsigned integers of that size); fields say how the bits are
// read, so that all pairs of types need few vertices.
//
// Values that the result's type has are kept; other values are rounded: to the nearest, ties to even, for floating results; towards
// zero from floating to integer, where values out of range become the nearest end and NaN becomes 0. Integers wrap around.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <limits>

#include "poplibs/popops/data/number_kind.h"

namespace popops {

struct Boolean {
  unsigned char bits;
};

template <class T>
constexpr bool is_real = std::is_same<T, float>::value || std::is_same<T, half>::value;

template <class To>
static To truncated(float x) {
  constexpr float low = static_cast<float>(std::numeric_limits<To>::min());
  constexpr float end = 2.0f * static_cast<float>(std::numeric_limits<To>::max() / 2 + 1);  // one past the greatest
  const To inside = static_cast<To>(x > low && x < end ? x : 0.0f);
  const To above = x >= end ? std::numeric_limits<To>::max() : inside;
  return x <= low ? std::numeric_limits<To>::min() : above;
}

template <class To, class From>
static To converted(From x) {
  if constexpr (std::is_same<From, To>::value)
    return x;
  else if constexpr (std::is_same<From, Boolean>::value)
    return static_cast<To>(x.bits != 0);
  else if constexpr (std::is_same<To, Boolean>::value)
    return Boolean{static_cast<unsigned char>(x != From(0))};
  else if constexpr (std::is_same<To, half>::value)
    return static_cast<half>(static_cast<float>(x));
  else if constexpr (is_real<From> && !is_real<To>)
    return truncated<To>(static_cast<float>(x));
  else
    return static_cast<To>(x);
}

template <class From, class To>
__attribute__((noinline)) static void cast_all(const void* from, void* to, unsigned n) {
  const From* in = static_cast<const From*>(from);
  To* out = static_cast<To*>(to);
#pragma clang loop vectorize(assume_safety)
  for (unsigned i = 0; i < n; ++i) out[i] = converted<To>(in[i]);
}

// f with a value of each type that an element of that size may have.
template <unsigned Size, class F>
static void with_kind(NumberKind kind, F f) {
  if constexpr (Size == 1) {
    if (kind == NumberKind::kBool) return f(Boolean());
    if (kind == NumberKind::kInt8) return f(static_cast<signed char>(0));
    f(static_cast<unsigned char>(0));
  } else if constexpr (Size == 2) {
    if (kind == NumberKind::kHalf) return f(half(0));
    if (kind == NumberKind::kInt16) return f(short(0));
    f(static_cast<unsigned short>(0));
  } else if constexpr (Size == 4) {
    if (kind == NumberKind::kFloat) return f(0.0f);
    if (kind == NumberKind::kInt32) return f(0);
    f(0u);
  } else {
    if (kind == NumberKind::kInt64) return f(0LL);
    f(0ULL);
  }
}

template <class From, class To>
static void cast_run(const From* in, To* out, unsigned n, unsigned char from, unsigned char to) {
  with_kind<sizeof(From)>(static_cast<NumberKind>(from), [&](auto x) {
    with_kind<sizeof(To)>(static_cast<NumberKind>(to), [&](auto y) { cast_all<decltype(x), decltype(y)>(in, out, n); });
  });
}

template <class From, class To>
class Cast : public poplar::Vertex {
 public:
  Cast();
  poplar::Input<poplar::Vector<From>> in;
  poplar::Output<poplar::Vector<To>> out;
  const unsigned char from;  // NumberKind
  const unsigned char to;

  bool compute() {
    cast_run<From, To>(&in[0], &out[0], out.size(), from, to);
    return true;
  }
};

template <class From, class To>
class Cast2d : public poplar::Vertex {
 public:
  Cast2d();
  poplar::Vector<poplar::Input<poplar::Vector<From>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<To>>> out;
  const unsigned char from;
  const unsigned char to;

  bool compute() {
    for (unsigned i = 0; i < out.size(); ++i) cast_run<From, To>(&in[i][0], &out[i][0], out[i].size(), from, to);
    return true;
  }
};

#define CAST(From, To)           \
  template class Cast<From, To>; \
  template class Cast2d<From, To>;
#define CAST_TO_ALL(From)    \
  CAST(From, unsigned char)  \
  CAST(From, unsigned short) \
  CAST(From, unsigned int)   \
  CAST(From, unsigned long long)
CAST_TO_ALL(unsigned char)
CAST_TO_ALL(unsigned short)
CAST_TO_ALL(unsigned int)
CAST_TO_ALL(unsigned long long)

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// Bound by 64-bit loads and stores; conversions work on two elements a cycle, or four to and from half.
Estimates estimates_cast() {
  Estimates out;
  for (const std::size_t from : {1, 2, 4, 8})
    for (const std::size_t to : {1, 2, 4, 8})
      internal::add_pair(out, "Cast", internal::bits_type(from).toString() + "," + internal::bits_type(to).toString(), "out",
                         {.cycles_per_element = static_cast<double>(from + to) / 8});
  return out;
}

}  // namespace popops
#endif
