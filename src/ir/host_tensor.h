// Data of the host: what constants and variables begin with, and what the reference interpreter computes on.
#pragma once

#include "ir/types/dtype.h"
#include "ir/types/type.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pando::ir {

// A dense tensor in row-major order. Copies share the bytes; `writable` makes them its own first.
class HostTensor {
 public:
  HostTensor() = default;
  // Zeros.
  HostTensor(DType dtype, Shape shape);
  // Bytes that somebody else keeps (mapped files, arrays of Python); `bytes` owns them.
  HostTensor(DType dtype, Shape shape, std::shared_ptr<std::byte> bytes)
      : dtype_(dtype), shape_(std::move(shape)), bytes_(std::move(bytes)) {}
  // One value for all elements.
  static HostTensor filled(DType dtype, Shape shape, double value);
  static HostTensor of_ints(DType dtype, Shape shape, std::span<const std::int64_t> values);
  static HostTensor of_floats(DType dtype, Shape shape, std::span<const double> values);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const { return elements_of(shape_); }
  std::size_t size_bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype_); }
  const std::byte* data() const { return bytes_.get(); }
  const std::shared_ptr<std::byte>& shared() const { return bytes_; }
  std::byte* writable();
  bool empty_handle() const { return bytes_ == nullptr; }

  // Element `i` in row-major order, converted: exact for every value that the other type has. Floating types are rounded to nearest even
  // when set. float8 types convert with a scale of 1.
  double number(std::int64_t i) const;
  std::int64_t integer(std::int64_t i) const;
  void set(std::int64_t i, double value);
  void set_integer(std::int64_t i, std::int64_t value);

  // The same bytes with another shape of as many elements.
  HostTensor reshaped(Shape shape) const;
  // The values in another type: floats to integers are truncated, to bool compared with zero.
  HostTensor converted(DType dtype) const;

  // Same type, shape and bytes.
  friend bool operator==(const HostTensor& a, const HostTensor& b);

 private:
  DType dtype_ = DType::float32;
  Shape shape_;
  std::shared_ptr<std::byte> bytes_;
};

// A tensor, or a tuple of values.
struct HostValue {
  HostTensor tensor;
  std::vector<HostValue> elements;
};

// float8 <-> float: 4 exponent and 3 mantissa bits with bias 8 (143), 5 and 2 with bias 16 (152). No infinities; byte 0x80 is the one NaN.
// `nan_on_overflow`: what is too large becomes NaN, otherwise the largest value.
std::uint8_t float8_from_float(DType format, float value, bool nan_on_overflow = true);
float float_from_float8(DType format, std::uint8_t bits);

}  // namespace pando::ir
