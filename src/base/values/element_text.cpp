#include "base/values/element_text.h"

#include <fmt/format.h>

#include <cstring>

namespace pando {

namespace {

template <class T>
std::string text_as(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return fmt::format("{}", value);
}

}  // namespace

std::string element_text(ElementType type, const void* element) {
  switch (type) {
    case ElementType::boolean: return *static_cast<const unsigned char*>(element) ? "true" : "false";
    case ElementType::half: {
      std::uint16_t bits;
      std::memcpy(&bits, element, sizeof bits);
      return fmt::format("{}", float_from_half(bits));
    }
    case ElementType::float_: return text_as<float>(element);
    case ElementType::double_: return text_as<double>(element);
    case ElementType::quarter: return text_as<std::uint8_t>(element);
    default: break;
  }
  const bool sign = is_signed(type);
  switch (size_of(type)) {
    case 1: return sign ? text_as<std::int8_t>(element) : text_as<std::uint8_t>(element);
    case 2: return sign ? text_as<std::int16_t>(element) : text_as<std::uint16_t>(element);
    case 4: return sign ? text_as<std::int32_t>(element) : text_as<std::uint32_t>(element);
    default: return sign ? text_as<std::int64_t>(element) : text_as<std::uint64_t>(element);
  }
}

}  // namespace pando
