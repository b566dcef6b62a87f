#include "base/element_type.h"

namespace pando {

namespace {
constexpr std::string_view kNames[kElementTypes] = {
    "bool",  "char",          "signed char", "unsigned char",      "short",   "unsigned short",   "int",  "unsigned int",
    "long",  "unsigned long", "long long",   "unsigned long long", "quarter", "quarter_metadata", "half", "float",
    "double"};
}

std::string_view name_of(ElementType t) { return kNames[static_cast<std::size_t>(t)]; }

std::optional<ElementType> element_type_named(std::string_view name) {
  for (std::size_t i = 0; i < kElementTypes; ++i)
    if (kNames[i] == name) return static_cast<ElementType>(i);
  if (name == "unsigned") return ElementType::unsigned_int;
  if (name == "_Float16") return ElementType::half;
  return std::nullopt;
}

}  // namespace pando
