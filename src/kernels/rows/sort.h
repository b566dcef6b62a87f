// Sorting unsigned integers.
#pragma once

#include <stdint.h>

#include "kernels/kernel.h"

// Sorts keys[0, n), least first.
PANDO_KERNEL void pando_sort_u32(uint32_t* keys, unsigned n);
PANDO_KERNEL void pando_sort_u64(uint64_t* keys, unsigned n);

// out[0, k) = the k least of those of in[0, n) that are at most `limit`, least first; the greatest number stands for each that there is
// not.
PANDO_KERNEL void pando_least_u32(const uint32_t* in, unsigned n, uint32_t limit, uint32_t* out, unsigned k);
PANDO_KERNEL void pando_least_u64(const uint64_t* in, unsigned n, uint64_t limit, uint64_t* out, unsigned k);
