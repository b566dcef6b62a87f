// IEEE halfs in memory as vectors of floats, for kernels that foreach_target.h compiles once per instruction set.
// Included once per instruction set: no include guard of its own.

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {

// Without instructions for them Highway's conversions take no infinity and no NaN, so there are others here: of the bits.
#if HWY_ARCH_X86 && HWY_TARGET == HWY_SSSE3

template <class D>
HWY_ATTR HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_halfs(D d, const hwy::float16_t* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<std::uint16_t, D> narrow;
  const auto h = hn::PromoteTo(bits, hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(from)));
  const auto exponent = hn::Set(bits, 0x7c00);
  // The exponent's other bias is a factor, which makes subnormal halfs normal floats, too.
  const auto magnitude = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(hn::And(h, hn::Set(bits, 0x7fff)))), hn::Set(d, 0x1p112f));
  const auto special = hn::IfThenElseZero(hn::Eq(hn::And(h, exponent), exponent), hn::Set(bits, 0x7f800000));
  const auto sign = hn::ShiftLeft<16>(hn::And(h, hn::Set(bits, 0x8000)));
  return hn::BitCast(d, hn::Or(hn::BitCast(bits, magnitude), hn::Or(special, sign)));
}

// Rounded to the nearest, ties to even.
template <class D>
HWY_ATTR HWY_INLINE void store_halfs(D d, hwy::HWY_NAMESPACE::Vec<D> v, hwy::float16_t* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> numbers;
  const hn::Rebind<std::uint16_t, D> narrow;
  const auto f = hn::BitCast(bits, hn::Abs(v));
  const auto sign = hn::ShiftRight<16>(hn::And(hn::BitCast(bits, v), hn::Set(bits, 0x80000000)));
  const auto odd = hn::And(hn::ShiftRight<13>(f), hn::Set(bits, 1));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Sub(f, hn::Set(bits, 0x37fff001)), odd));  // the biases' difference, less what rounds
  // Below the least normal half: what is left behind the point when the last bit of a half is that of a float near one half.
  const auto subnormal = hn::Sub(hn::BitCast(bits, hn::Add(hn::Abs(v), hn::Set(d, 0.5f))), hn::Set(bits, 0x3f000000));
  const auto nan = hn::Or(hn::Set(bits, 0x7e00), hn::And(hn::ShiftRight<13>(f), hn::Set(bits, 0x3ff)));
  const auto is_below = [&](std::uint32_t limit) HWY_ATTR {
    return hn::RebindMask(bits, hn::Lt(hn::BitCast(numbers, f), hn::BitCast(numbers, hn::Set(bits, limit))));
  };
  auto out = hn::IfThenElse(is_below(0x38800000), subnormal, normal);
  out = hn::IfThenElse(is_below(0x47800000), out, hn::Set(bits, 0x7c00));
  out = hn::IfThenElse(is_below(0x7f800001), out, nan);
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(numbers, hn::Or(out, sign))), narrow, reinterpret_cast<std::uint16_t*>(to));
}

#else

template <class D>
HWY_ATTR HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_halfs(D d, const hwy::float16_t* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), from));
}

template <class D>
HWY_ATTR HWY_INLINE void store_halfs(D, hwy::HWY_NAMESPACE::Vec<D> v, hwy::float16_t* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<hwy::float16_t, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, v), narrow, to);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();
