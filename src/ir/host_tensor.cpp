#include "ir/host_tensor.h"

#include "base/check.h"
#include "base/element_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace pando::ir {

namespace {

std::shared_ptr<std::byte> zeros(std::size_t bytes) {
  // calloc: pages that nobody touches cost nothing.
  auto* p = static_cast<std::byte*>(std::calloc(bytes ? bytes : 1, 1));
  if (!p) throw std::bad_alloc();
  return {p, [](std::byte* q) { std::free(q); }};
}

template <class T>
T at(const std::byte* p, std::int64_t i) {
  T v;
  std::memcpy(&v, p + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return v;
}

template <class T>
void put(std::byte* p, std::int64_t i, T v) {
  std::memcpy(p + i * static_cast<std::int64_t>(sizeof(T)), &v, sizeof(T));
}

// Saturates where C++ says nothing.
std::int64_t truncated(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 9223372036854775807.0) return std::numeric_limits<std::int64_t>::max();
  if (v <= -9223372036854775808.0) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(v);
}

// Of an integer type, the number that it has nearest to a float.
double in_range(DType t, double v) {
  if (!is_integer(t)) return v;
  if (std::isnan(v)) return 0;
  const int bits = 8 * static_cast<int>(size_of(t));
  const bool has_sign = !is_unsigned_integer(t);
  // What 64 bits hold is no double: set() saturates there.
  const double end = std::ldexp(1.0, has_sign ? bits - 1 : bits);
  return std::clamp(v, has_sign ? -end : 0.0, bits == 64 ? std::nextafter(end, 0.0) : end - 1);
}

// double to half in one rounding: through float would round twice.
std::uint16_t half_from_double(double v) {
  const float f = static_cast<float>(v);
  if (static_cast<double>(f) == v || std::isnan(v)) return half_from_float(f);
  // Round to odd: the float next to v whose last bit is one decides ties as v would.
  std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  if (!(bits & 1)) {
    const bool up = std::abs(static_cast<double>(f)) < std::abs(v);
    bits = up ? bits + 1 : bits - 1;
  }
  return half_from_float(std::bit_cast<float>(bits));
}

struct Format8 {
  int mantissa, bias;
  float largest;
};

Format8 format_of(DType t) { return t == DType::float8_143 ? Format8{3, 8, 240.0f} : Format8{2, 16, 57344.0f}; }

}  // namespace

std::uint8_t float8_from_float(DType format, float value, bool nan_on_overflow) {
  const Format8 f = format_of(format);
  if (std::isnan(value) || std::isinf(value)) return 0x80;
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const double magnitude = std::abs(static_cast<double>(value));
  if (magnitude == 0) return 0;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent -= 1;
  const int least = 1 - f.bias;
  const int unit = std::max(exponent, least) - f.mantissa;
  double rounded = std::nearbyint(std::ldexp(magnitude, -unit));
  double result = std::ldexp(rounded, unit);
  if (result > f.largest) {
    if (nan_on_overflow) return 0x80;
    result = f.largest;
  }
  if (result == 0) return 0;
  std::frexp(result, &exponent);
  exponent -= 1;
  std::uint8_t bits;
  if (exponent < least) {
    bits = static_cast<std::uint8_t>(std::ldexp(result, f.mantissa - least));
  } else {
    const auto fraction = static_cast<std::uint8_t>(std::ldexp(result, f.mantissa - exponent) - (1 << f.mantissa));
    bits = static_cast<std::uint8_t>(((exponent + f.bias) << f.mantissa) | fraction);
  }
  return sign | bits;
}

float float_from_float8(DType format, std::uint8_t bits) {
  const Format8 f = format_of(format);
  if (bits == 0x80) return std::numeric_limits<float>::quiet_NaN();
  const int exponent = (bits & 0x7f) >> f.mantissa;
  const int fraction = bits & ((1 << f.mantissa) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - f.bias - f.mantissa)
                                         : std::ldexp((1 << f.mantissa) + fraction, exponent - f.bias - f.mantissa);
  return static_cast<float>(bits & 0x80 ? -magnitude : magnitude);
}

HostTensor::HostTensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)), bytes_(zeros(size_bytes())) {}

HostTensor HostTensor::filled(DType dtype, Shape shape, double value) {
  HostTensor t(dtype, std::move(shape));
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, value);
  return t;
}

HostTensor HostTensor::of_ints(DType dtype, Shape shape, std::span<const std::int64_t> values) {
  HostTensor t(dtype, std::move(shape));
  PANDO_CHECK(static_cast<std::int64_t>(values.size()) == t.elements());
  for (std::size_t i = 0; i < values.size(); ++i) t.set_integer(static_cast<std::int64_t>(i), values[i]);
  return t;
}

HostTensor HostTensor::of_floats(DType dtype, Shape shape, std::span<const double> values) {
  HostTensor t(dtype, std::move(shape));
  PANDO_CHECK(static_cast<std::int64_t>(values.size()) == t.elements());
  for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
  return t;
}

std::byte* HostTensor::writable() {
  if (bytes_.use_count() > 1) {
    auto own = zeros(size_bytes());
    std::memcpy(own.get(), bytes_.get(), size_bytes());
    bytes_ = std::move(own);
  }
  return bytes_.get();
}

double HostTensor::number(std::int64_t i) const {
  const std::byte* p = bytes_.get();
  switch (dtype_) {
    case DType::float16: return float_from_half(at<std::uint16_t>(p, i));
    case DType::float32: return at<float>(p, i);
    case DType::float64: return at<double>(p, i);
    case DType::float8_143:
    case DType::float8_152: return float_from_float8(dtype_, at<std::uint8_t>(p, i));
    case DType::uint64: return static_cast<double>(at<std::uint64_t>(p, i));
    case DType::complex64: return at<float>(p, 2 * i);
    case DType::complex128: return at<double>(p, 2 * i);
    default: return static_cast<double>(integer(i));
  }
}

std::int64_t HostTensor::integer(std::int64_t i) const {
  const std::byte* p = bytes_.get();
  switch (dtype_) {
    case DType::boolean: return at<std::uint8_t>(p, i) != 0;
    case DType::int8: return at<std::int8_t>(p, i);
    case DType::int16: return at<std::int16_t>(p, i);
    case DType::int32: return at<std::int32_t>(p, i);
    case DType::int64: return at<std::int64_t>(p, i);
    case DType::uint8: return at<std::uint8_t>(p, i);
    case DType::uint16: return at<std::uint16_t>(p, i);
    case DType::uint32: return at<std::uint32_t>(p, i);
    case DType::uint64: return static_cast<std::int64_t>(at<std::uint64_t>(p, i));
    default: return truncated(number(i));
  }
}

void HostTensor::set(std::int64_t i, double v) {
  std::byte* p = writable();
  switch (dtype_) {
    case DType::boolean: return put<std::uint8_t>(p, i, v != 0);
    case DType::float16: return put(p, i, half_from_double(v));
    case DType::float32: return put(p, i, static_cast<float>(v));
    case DType::float64: return put(p, i, v);
    case DType::float8_143:
    case DType::float8_152: return put(p, i, float8_from_float(dtype_, static_cast<float>(v)));
    case DType::uint64:
      return put(p, i, v >= 9223372036854775808.0 ? static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(truncated(v)));
    case DType::complex64: return put(p, 2 * i, static_cast<float>(v));
    case DType::complex128: return put(p, 2 * i, v);
    default: return set_integer(i, truncated(v));
  }
}

void HostTensor::set_integer(std::int64_t i, std::int64_t v) {
  std::byte* p = writable();
  switch (dtype_) {
    case DType::boolean: return put<std::uint8_t>(p, i, v != 0);
    case DType::int8: return put(p, i, static_cast<std::int8_t>(v));
    case DType::int16: return put(p, i, static_cast<std::int16_t>(v));
    case DType::int32: return put(p, i, static_cast<std::int32_t>(v));
    case DType::int64: return put(p, i, v);
    case DType::uint8: return put(p, i, static_cast<std::uint8_t>(v));
    case DType::uint16: return put(p, i, static_cast<std::uint16_t>(v));
    case DType::uint32: return put(p, i, static_cast<std::uint32_t>(v));
    case DType::uint64: return put(p, i, static_cast<std::uint64_t>(v));
    default: return set(i, static_cast<double>(v));
  }
}

HostTensor HostTensor::reshaped(Shape shape) const {
  PANDO_CHECK(elements_of(shape) == elements());
  HostTensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

HostTensor HostTensor::converted(DType dtype) const {
  if (dtype == dtype_) return *this;
  HostTensor t(dtype, shape_);
  const bool integers = !is_floating(dtype_) && !is_floating(dtype) && !is_complex(dtype_) && !is_complex(dtype);
  for (std::int64_t i = 0; i < elements(); ++i) {
    if (integers) {
      t.set_integer(i, integer(i));
    } else {
      t.set(i, in_range(dtype, number(i)));
    }
  }
  return t;
}

bool operator==(const HostTensor& a, const HostTensor& b) {
  return a.dtype_ == b.dtype_ && a.shape_ == b.shape_ && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace pando::ir
