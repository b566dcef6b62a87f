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

// One link of two vectors of values, whose operands are `gap` apart.
template <class F, class D, class V>
HWY_ATTR HWY_INLINE void apply(D d, const float* operand, std::size_t gap, bool reversed, V& v, V& w) {
  const V x = hn::LoadU(d, operand), y = hn::LoadU(d, operand + gap);
  v = reversed ? F::of(x, v) : F::of(v, x);
  w = reversed ? F::of(y, w) : F::of(w, y);
}

// Elements from `i` on, as far as they fill vectors. Two vectors at a time share the choice of the operation; a last one goes twice.
template <class D>
HWY_ATTR HWY_INLINE void vectors(D d, const float* a, const Link* links, unsigned count, float* out, std::size_t& i, std::size_t n) {
  const std::size_t lanes = hn::Lanes(d);
  while (i + lanes <= n) {
    const std::size_t gap = i + 2 * lanes <= n ? lanes : 0;
    hn::Vec<D> v = hn::LoadU(d, a + i), w = hn::LoadU(d, a + i + gap);
    for (unsigned k = 0; k < count; ++k) {
      const float* const operand = links[k].operand + (links[k].constant ? 0 : i);
      const bool reversed = links[k].reversed;
      switch (links[k].op) {
        case Binary::add: apply<Add>(d, operand, gap, false, v, w); break;
        case Binary::multiply: apply<Multiply>(d, operand, gap, false, v, w); break;
        case Binary::subtract: apply<Subtract>(d, operand, gap, reversed, v, w); break;
        case Binary::divide: apply<Divide>(d, operand, gap, reversed, v, w); break;
        case Binary::maximum: apply<Maximum>(d, operand, gap, reversed, v, w); break;
        case Binary::minimum: apply<Minimum>(d, operand, gap, reversed, v, w); break;
        default: break;
      }
    }
    hn::StoreU(v, d, out + i);
    hn::StoreU(w, d, out + i + gap);
    i += lanes + gap;
  }
}

HWY_ATTR void chain(const float* a, const Link* links, unsigned count, float* out, std::size_t n) {
  std::size_t i = 0;
  vectors(hn::CappedTag<float, kConstantElements / 2>(), a, links, count, out, i, n);
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
