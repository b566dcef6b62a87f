// IEEE binary16 beside half_from_float and float_from_half, which stand with the element types.
#pragma once

#include "base/element_type.h"

namespace pando {

// To nearest even in one rounding, where the way through float takes two: a double just beside the middle of two halfs becomes that middle.
std::uint16_t half_from_double(double value);

}  // namespace pando
