// The instruction sets that vector kernels are compiled for: the baseline, AVX2 and AVX-512 on x86. What lies between gains
// nothing here and costs compile time. Included before Highway.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
