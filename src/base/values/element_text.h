// One element as text.
#pragma once

#include <string>

#include "base/element_type.h"

namespace pando {

// Integers in decimal, floats with the digits that tell them from their neighbours; bool as true or false, quarter as its code, which has
// no value without metadata.
std::string element_text(ElementType type, const void* element);

}  // namespace pando
