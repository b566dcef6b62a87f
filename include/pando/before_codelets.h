/* What popc includes before the text of every C++ codelet. */
#ifndef PANDO_BEFORE_CODELETS_H
#define PANDO_BEFORE_CODELETS_H

/* Public codelets write uint16_t without a header that declares it: with the library of the device they get it from <array>. */
#include <stdint.h>

#include <cstddef>

/* The library of the device lacks the mathematical special functions of C++17 (std::beta, std::cyl_bessel_j ...), and to parse them takes
 * longer than all else of a small codelet. A codelet that defines __STDCPP_WANT_MATH_SPEC_FUNCS__ gets those of the host. */
#if defined(_GLIBCXX_USE_STD_SPEC_FUNCS) && !defined(__STDCPP_WANT_MATH_SPEC_FUNCS__)
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif

#endif
