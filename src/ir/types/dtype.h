// The element types of the model level, as PopXL and DistIR name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pando::ir {

enum class DType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float8_143,
  float8_152,
  float16,
  float32,
  float64,
  complex64,
  complex128,
};

inline constexpr std::size_t kDTypes = 16;

// The name in texts and in Python: "bool", "int32", "float16" ...
std::string_view name_of(DType t);
// Accepts the names of name_of and the aliases half, float and double.
std::optional<DType> dtype_named(std::string_view name);

constexpr std::size_t size_of(DType t) {
  constexpr std::uint8_t sizes[kDTypes] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 4, 8, 8, 16};
  return sizes[static_cast<std::size_t>(t)];
}
constexpr bool is_float8(DType t) { return t == DType::float8_143 || t == DType::float8_152; }
constexpr bool is_floating(DType t) { return t >= DType::float8_143 && t <= DType::float64; }
constexpr bool is_signed_integer(DType t) { return t >= DType::int8 && t <= DType::int64; }
constexpr bool is_unsigned_integer(DType t) { return t >= DType::uint8 && t <= DType::uint64; }
// bool is not an integer.
constexpr bool is_integer(DType t) { return is_signed_integer(t) || is_unsigned_integer(t); }
constexpr bool is_complex(DType t) { return t >= DType::complex64; }
// Types whose gradients flow: half, float and double.
constexpr bool is_differentiable(DType t) { return t >= DType::float16 && t <= DType::float64; }

}  // namespace pando::ir
