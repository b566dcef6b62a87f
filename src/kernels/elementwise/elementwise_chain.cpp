#include "kernels/elementwise/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise_chain.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Op>
constexpr unsigned unsigned_of(Op op) {
  return static_cast<unsigned>(op);
}

constexpr unsigned kMostWays = 8;  // vectors at a time: with their operands they stay in registers

// As the functions of one operation have it: NaN wins against a number.
struct Add {
  template <class V> static HWY_ATTR HWY_INLINE V of(V x, V y) { return hn::Add(x, y); }
};
struct Subtract {
  template <class V> static HWY_ATTR HWY_INLINE V of(V x, V y) { return hn::Sub(x, y); }
};
struct Multiply {
  template <class V> static HWY_ATTR HWY_INLINE V of(V x, V y) { return hn::Mul(x, y); }
};
struct Divide {
  template <class V> static HWY_ATTR HWY_INLINE V of(V x, V y) { return hn::Div(x, y); }
};
struct Maximum {
  template <class V> static HWY_ATTR HWY_INLINE V of(V x, V y) { return hn::IfThenElse(hn::Or(hn::Gt(x, y), hn::IsNaN(x)), x, y); }
};
struct Minimum {
  template <class V> static HWY_ATTR HWY_INLINE V of(V x, V y) { return hn::IfThenElse(hn::Or(hn::Lt(x, y), hn::IsNaN(x)), x, y); }
};

struct Gate {
  template <class V> static HWY_ATTR HWY_INLINE V of(V x, V y) {
    const hn::DFromV<V> d;
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), x);
  }
};

// One link of some vectors of values, whose operands are `gap` apart.
template <class F, unsigned kWays, class D, class V>
HWY_ATTR HWY_INLINE void apply(D d, const float* operand, std::size_t gap, bool reversed, V* v) {
  for (unsigned w = 0; w < kWays; ++w) {
    const V x = hn::LoadU(d, operand + w * gap);
    v[w] = reversed ? F::of(x, v[w]) : F::of(v[w], x);
  }
}

// All links of vectors from `i` on, `gap` apart: they share the choice of each operation.
template <unsigned kWays, class D>
HWY_ATTR HWY_INLINE void links_of(D d, const float* a, const Link* links, unsigned count, float* out, std::size_t i, std::size_t gap) {
  hn::Vec<D> v[kWays];
  for (unsigned w = 0; w < kWays; ++w) v[w] = hn::LoadU(d, a + i + w * gap);
  for (unsigned k = 0; k < count; ++k) {
    const Link& link = links[k];
    // Some links have none.
    const float* const operand = link.operand == nullptr ? nullptr : link.operand + (link.constant ? 0 : i);
    const std::size_t apart = link.constant ? 0 : gap;
    switch (static_cast<unsigned>(link.op)) {
      case unsigned_of(Binary::add): apply<Add, kWays>(d, operand, apart, false, v); break;
      case unsigned_of(Binary::multiply): apply<Multiply, kWays>(d, operand, apart, false, v); break;
      case unsigned_of(Binary::subtract): apply<Subtract, kWays>(d, operand, apart, link.reversed, v); break;
      case unsigned_of(Binary::divide): apply<Divide, kWays>(d, operand, apart, link.reversed, v); break;
      case unsigned_of(Binary::maximum): apply<Maximum, kWays>(d, operand, apart, link.reversed, v); break;
      case unsigned_of(Binary::minimum): apply<Minimum, kWays>(d, operand, apart, link.reversed, v); break;
      case unsigned_of(LinkOp::gate): apply<Gate, kWays>(d, operand, apart, false, v); break;
      case unsigned_of(LinkOp::relu):
        for (unsigned w = 0; w < kWays; ++w) v[w] = hn::IfThenZeroElse(hn::Lt(v[w], hn::Zero(d)), v[w]);
        break;
      case unsigned_of(LinkOp::sqrt):
        for (unsigned w = 0; w < kWays; ++w) v[w] = hn::Sqrt(v[w]);
        break;
      case unsigned_of(LinkOp::product):
        for (unsigned w = 0; w < kWays; ++w)
          v[w] = hn::Add(v[w], hn::Mul(hn::LoadU(d, operand + w * apart), hn::LoadU(d, link.second + i + w * gap)));
        break;
      case unsigned_of(LinkOp::keep):
        for (unsigned w = 0; w < kWays; ++w) hn::StoreU(v[w], d, link.kept + i + w * gap);
        break;
      default: break;
    }
  }
  for (unsigned w = 0; w < kWays; ++w) hn::StoreU(v[w], d, out + i + w * gap);
}

// Elements from `i` on, as far as they fill vectors; of a pair, a last one goes twice.
template <class D>
HWY_ATTR HWY_INLINE void vectors(D d, const float* a, const Link* links, unsigned count, float* out, std::size_t& i, std::size_t n) {
  const std::size_t lanes = hn::Lanes(d);
  while (i + lanes <= n) {
    const std::size_t gap = i + 2 * lanes <= n ? lanes : 0;
    links_of<2>(d, a, links, count, out, i, gap);
    i += lanes + gap;
  }
}

HWY_ATTR void chain(const float* a, const Link* links, unsigned count, float* out, std::size_t n) {
  std::size_t i = 0;
  const hn::CappedTag<float, kConstantElements / 2> d;
  for (const std::size_t lanes = hn::Lanes(d); i + kMostWays * lanes <= n; i += kMostWays * lanes)
    links_of<kMostWays>(d, a, links, count, out, i, lanes);
  vectors(d, a, links, count, out, i, n);
  vectors(hn::CappedTag<float, 4>(), a, links, count, out, i, n);
  vectors(hn::CappedTag<float, 1>(), a, links, count, out, i, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {
HWY_EXPORT(chain);
}  // namespace
}  // namespace pando::kernels

void pando_chain(const float* a, const pando::kernels::Link* links, unsigned count, float* out, std::size_t n) {
  using namespace pando::kernels;
  HWY_DYNAMIC_DISPATCH(chain)(a, links, count, out, n);
}
#endif
