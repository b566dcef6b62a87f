#include "ir/host_tensor.h"

#include "base/check.h"
#include "base/values/half.h"
#include "ir/types/value_form.h"

#include <cstdlib>
#include <cstring>
#include <new>

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

}  // namespace

std::uint8_t float8_from_float(DType format, float value, bool nan_on_overflow) {
  return float8_from_double(value_form_of(format).format, static_cast<double>(value),
                            nan_on_overflow ? Float8Overflow::nan : Float8Overflow::greatest);
}

float float_from_float8(DType format, std::uint8_t bits) { return pando::float_from_float8(value_form_of(format).format, bits); }

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
    default: return converted_number<std::int64_t>(number(i));
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
    case DType::float8_152: return put(p, i, float8_from_double(value_form_of(dtype_).format, v, Float8Overflow::nan));
    case DType::uint64:
      return put(p, i, v > 0 ? converted_number<std::uint64_t>(v) : static_cast<std::uint64_t>(converted_number<std::int64_t>(v)));
    case DType::complex64: return put(p, 2 * i, static_cast<float>(v));
    case DType::complex128: return put(p, 2 * i, v);
    // Results of arithmetic: integers wrap around. A cast (converted) does not.
    default: return set_integer(i, converted_number<std::int64_t>(v));
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
  const ValueForm from = value_form_of(dtype_), to = value_form_of(dtype);
  const auto n = static_cast<std::size_t>(elements());
  if (is_complex(dtype_) == is_complex(dtype)) {
    convert_values(from, data(), to, t.writable(), is_complex(dtype) ? 2 * n : n);
    return t;
  }
  // Real parts.
  for (std::size_t i = 0; i < n; ++i) convert_values(from, data() + i * size_of(dtype_), to, t.writable() + i * size_of(dtype), 1);
  return t;
}

bool operator==(const HostTensor& a, const HostTensor& b) {
  return a.dtype_ == b.dtype_ && a.shape_ == b.shape_ && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace pando::ir
