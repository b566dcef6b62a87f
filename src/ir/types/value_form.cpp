#include "ir/types/value_form.h"

namespace pando::ir {

ValueForm value_form_of(DType t) {
  constexpr ElementType types[kDTypes] = {ElementType::boolean,        ElementType::signed_char,  ElementType::short_,
                                          ElementType::int_,           ElementType::long_long,    ElementType::unsigned_char,
                                          ElementType::unsigned_short, ElementType::unsigned_int, ElementType::unsigned_long_long,
                                          ElementType::quarter,        ElementType::quarter,      ElementType::half,
                                          ElementType::float_,         ElementType::double_,      ElementType::float_,
                                          ElementType::double_};
  const auto format = t == DType::float8_143 ? Float8Format::f143 : Float8Format::f152;
  return {types[static_cast<std::size_t>(t)], format, 0, Float8Overflow::nan};
}

}  // namespace pando::ir
