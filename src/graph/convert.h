// Values of one element type as values of another, as setInitialValue and constants need it.
#pragma once

#include <string>
#include <string_view>

#include "base/element_type.h"

namespace pando::graph {

// Converts `bytes`, elements of type `from`, to elements of type `to`. Throws overflow_error if a value is out of the range of
// `to`, type_error if an integer type would lose a fraction, or if there is no conversion (quarter); `what` names the target in
// the message. Unsigned integers become signed ones of the same size bit by bit. Floating types round to nearest; infinities and
// NaNs stay; everything but 0 is true. With Negative::bits a negative integer for an unsigned type is taken by its bits, where the
// signed type of that size has it.
enum class Negative { rejected, bits };
std::string convert_elements(std::string_view bytes, ElementType from, ElementType to, const std::string& what,
                             Negative negative = Negative::rejected);

}  // namespace pando::graph
