#include "poplar/TypeConversion.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/element_type.h"
#include "base/error.h"
#include "facade/state.h"

namespace poplar {
namespace {

using pando::ElementType;
using pando::ErrorKind;

// Storage types of the elements that C++ has no type for.
struct Half {
  std::uint16_t bits;
};
struct Quarter {
  std::uint8_t bits;
};

int mantissa_bits(QuarterMetadata::Format f) { return f == QuarterMetadata::Format::F143 ? 3 : 2; }
int exponent_bias(QuarterMetadata::Format f) { return f == QuarterMetadata::Format::F143 ? 8 : 16; }
constexpr std::uint8_t kQuarterNan = 0x80;  // the code of minus zero

float float_from_quarter(std::uint8_t bits, const QuarterMetadata& m) {
  if (bits == kQuarterNan) return std::numeric_limits<float>::quiet_NaN();
  const int mantissa = mantissa_bits(m.getFormat());
  const int exponent = (bits & 0x7f) >> mantissa;
  const int fraction = bits & ((1 << mantissa) - 1);
  const int significand = exponent == 0 ? fraction : fraction + (1 << mantissa);
  const int power = std::max(exponent, 1) - exponent_bias(m.getFormat()) - mantissa + m.getScale();
  const float magnitude = std::ldexp(static_cast<float>(significand), power);
  return bits & 0x80 ? -magnitude : magnitude;
}

// Codes 0 ... 127 are in the order of their values, so the nearest one is found by bisection; a tie goes to the even code.
std::uint8_t quarter_from_float(float value, const QuarterMetadata& m, bool nan_on_overflow = false) {
  if (std::isnan(value)) return kQuarterNan;
  const float magnitude = std::fabs(value);
  // Half way to the number after the greatest, which has the greatest's distance from the one before it, and would be the even one.
  const float greatest = float_from_quarter(127, m);
  if (nan_on_overflow && magnitude >= greatest + (greatest - float_from_quarter(126, m)) / 2) return kQuarterNan;
  int low = 0, high = 127;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (float_from_quarter(static_cast<std::uint8_t>(middle), m) <= magnitude)
      low = middle;
    else
      high = middle;
  }
  const float below = magnitude - float_from_quarter(static_cast<std::uint8_t>(low), m);
  const float above = float_from_quarter(static_cast<std::uint8_t>(high), m) - magnitude;
  const int code = below < above || (below == above && low % 2 == 0) ? low : high;
  return static_cast<std::uint8_t>(code == 0 || !std::signbit(value) ? code : code | 0x80);
}

template <class T>
auto load(const T& v, const QuarterMetadata& m) {
  if constexpr (std::is_same_v<T, Half>)
    return pando::float_from_half(v.bits);
  else if constexpr (std::is_same_v<T, Quarter>)
    return float_from_quarter(v.bits, m);
  else
    return v;
}

template <class To, class From>
To number(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return To(0);
    // The limits as From round outwards, so the comparison must include them.
    if (v >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (v <= static_cast<From>(std::numeric_limits<To>::lowest())) return std::numeric_limits<To>::lowest();
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <class To, class From>
To store(From v, const QuarterMetadata& m, bool nan_on_overflow) {
  if constexpr (std::is_same_v<To, Half>)
    return Half{pando::half_from_float(number<float>(v))};
  else if constexpr (std::is_same_v<To, Quarter>)
    return Quarter{quarter_from_float(number<float>(v), m, nan_on_overflow)};
  else
    return number<To>(v);
}

template <class F>
void with_storage(ElementType t, F f) {
  switch (t) {
    case ElementType::boolean: return f(bool());
    case ElementType::char_: return f(char());
    case ElementType::signed_char: return f(static_cast<signed char>(0));
    case ElementType::unsigned_char:
    case ElementType::quarter_metadata: return f(static_cast<unsigned char>(0));
    case ElementType::short_: return f(short());
    case ElementType::unsigned_short: return f(static_cast<unsigned short>(0));
    case ElementType::int_: return f(int());
    case ElementType::unsigned_int: return f(0u);
    case ElementType::long_:
    case ElementType::long_long: return f(0ll);
    case ElementType::unsigned_long:
    case ElementType::unsigned_long_long: return f(0ull);
    case ElementType::quarter: return f(Quarter{});
    case ElementType::half: return f(Half{});
    case ElementType::float_: return f(0.0f);
    case ElementType::double_: return f(0.0);
  }
}

}  // namespace

namespace pando_detail {

void convertElements(const Type& from, const void* src, const Type& to, void* dst, std::size_t n, const QuarterMetadata& metadata,
                     bool nan_on_overflow) {
  const ElementType source = pando::facade::Access::element_type(from);
  const ElementType target = pando::facade::Access::element_type(to);
  if (n == 0) return;
  if (!src || !dst)
    pando::fail(ErrorKind::poplar_error, "null-values", "a conversion of {} elements of type {} is given a null pointer {}", n,
                from.toString(), src ? "to write to" : "to read");
  if (source == target) {
    std::memmove(dst, src, n * size_of(source));
    return;
  }
  with_storage(source, [&]<class From>(From) {
    with_storage(target, [&]<class To>(To) {
      const char* in = static_cast<const char*>(src);
      char* out = static_cast<char*>(dst);
      for (std::size_t i = 0; i < n; ++i) {
        From v;
        std::memcpy(&v, in + i * sizeof(From), sizeof(From));  // the caller's blocks may be unaligned
        const To r = store<To>(load(v, metadata), metadata, nan_on_overflow);
        std::memcpy(out + i * sizeof(To), &r, sizeof(To));
      }
    });
  });
}

}  // namespace pando_detail

QuarterMetadata::QuarterMetadata(Format format, int scale) : format_(format), scale_(scale) {
  if (scale < -32 || scale > 31) pando::fail(ErrorKind::overflow_error, "quarter-scale", "the scale {} is not in -32 ... 31", scale);
}

QuarterMetadata::QuarterMetadata(unsigned char binary)
    : format_(binary & 0x80 ? Format::F143 : Format::F152), scale_((binary & 0x3f) - (binary & 0x20 ? 64 : 0)) {}

unsigned char QuarterMetadata::getBinary() const {
  return static_cast<unsigned char>((format_ == Format::F143 ? 0x80 : 0) | (scale_ & 0x3f));
}

std::string toString(QuarterMetadata::Format format) { return format == QuarterMetadata::Format::F143 ? "F143" : "F152"; }

std::ostream& operator<<(std::ostream& out, const QuarterMetadata& m) {
  return out << '{' << toString(m.getFormat()) << ", " << m.getScale() << '}';
}

QuarterMetadata calculateMetadataForConversion(ArrayRef<float> values, CostMetric) {
  QuarterMetadata best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (const auto format : {QuarterMetadata::Format::F143, QuarterMetadata::Format::F152})
    for (int scale = -32; scale <= 31; ++scale) {
      const QuarterMetadata candidate(format, scale);
      double cost = 0;
      for (const float v : values) {
        const double error = static_cast<double>(float_from_quarter(quarter_from_float(v, candidate), candidate)) - v;
        cost += error * error;
      }
      if (cost < best_cost) best_cost = cost, best = candidate;
    }
  return best;
}

}  // namespace poplar
