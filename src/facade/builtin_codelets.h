// Codelets that are part of this library: they need neither popc nor a file.
#pragma once

#include "codelet/library.h"

namespace pando::facade {

// Fields `begin` (Input) and `end` (InOut), both Vector<unsigned> of two words, the low one first: end -= begin.
inline constexpr const char* kCycleDifference = "pando::CycleDifference";
inline constexpr unsigned kCycleDifferenceCycles = 24;  // by hand: four loads, two subtractions with borrow, two stores, call

// Adds them, if the library does not have them.
void add_builtin_codelets(Library& library);

}  // namespace pando::facade
