// The element types of the machine. `size_of` is the size on every target (2-byte IEEE half on the CPU device too).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pando {

enum class ElementType : std::uint8_t {
  boolean,
  char_,
  signed_char,
  unsigned_char,
  short_,
  unsigned_short,
  int_,
  unsigned_int,
  long_,
  unsigned_long,
  long_long,
  unsigned_long_long,
  quarter,
  quarter_metadata,
  half,
  float_,
  double_,
};

inline constexpr std::size_t kElementTypes = 17;

constexpr std::size_t size_of(ElementType t) {
  constexpr std::uint8_t sizes[kElementTypes] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 4, 8};
  return sizes[static_cast<std::size_t>(t)];
}

// The spelling used in vertex names and texts: "float", "unsigned int", "bool" ...
std::string_view name_of(ElementType t);
// Accepts the spellings of name_of and their C++ synonyms ("unsigned" for "unsigned int").
std::optional<ElementType> element_type_named(std::string_view name);
constexpr bool is_floating(ElementType t) {
  return t == ElementType::half || t == ElementType::float_ || t == ElementType::double_ || t == ElementType::quarter;
}
constexpr bool is_signed(ElementType t) {
  return is_floating(t) || t == ElementType::char_ || t == ElementType::signed_char || t == ElementType::short_ || t == ElementType::int_ ||
         t == ElementType::long_ || t == ElementType::long_long;
}

// IEEE binary16 <-> binary32, round to nearest even; the one place that knows the bits.
std::uint16_t half_from_float(float value);
float float_from_half(std::uint16_t bits);

}  // namespace pando
