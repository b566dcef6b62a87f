/* What popc includes before the text of every C++ codelet. */
#ifndef PANDO_BEFORE_CODELETS_H
#define PANDO_BEFORE_CODELETS_H

/* Public codelets use without a header what the library of the device brings along with <cmath> and <array>: uint16_t,
 * std::remove_reference, std::numeric_limits, std::swap, std::min. Without <utility>, std::swap is declared by <type_traits> alone: a
 * codelet that calls it compiles and has an undefined symbol. */
#include <stdint.h>

#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

/* The library of the device lacks the mathematical special functions of C++17 (std::beta, std::cyl_bessel_j ...), and to parse them takes
 * longer than all else of a small codelet. A codelet that defines __STDCPP_WANT_MATH_SPEC_FUNCS__ gets those of the host. */
#if defined(_GLIBCXX_USE_STD_SPEC_FUNCS) && !defined(__STDCPP_WANT_MATH_SPEC_FUNCS__)
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif

#endif
