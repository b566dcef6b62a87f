// The instruction sets that vector kernels are compiled for: on x86 SSSE3 (which every 64-bit processor since 2011 has), AVX2 and AVX-512.
// What lies between gains nothing here, and the emulated vectors that Highway would start from cost as much compile time as the others
// together. Included before Highway.
#pragma once

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSSE3
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_AVX3_DL)
#endif
