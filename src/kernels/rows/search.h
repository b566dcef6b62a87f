// Finding a few of many unsigned integers.
#pragma once

#include <stdint.h>

#include "kernels/kernel.h"

// What the functions may write behind what they find: `out` has room for so many more numbers than can be found.
enum { kPandoSearchSlack = 16 };

// The positions of values[0, n) that are in [first, first + count), in order; returns how many. At most `most` > 0 are found: *seen is the
// number of values that were looked at.
PANDO_KERNEL unsigned pando_find_in_range_u32(const uint32_t* values, unsigned n, uint32_t first, uint32_t count, uint32_t* out,
                                              unsigned most, unsigned* seen);

// The values of values[0, n) that are at most `limit`, in order; returns how many.
PANDO_KERNEL unsigned pando_find_at_most_u32(const uint32_t* values, unsigned n, uint32_t limit, uint32_t* out);
PANDO_KERNEL unsigned pando_find_at_most_u64(const uint64_t* values, unsigned n, uint64_t limit, uint64_t* out);

// The least of values[0, n), n > 0.
PANDO_KERNEL uint32_t pando_minimum_u32(const uint32_t* values, unsigned n);
PANDO_KERNEL uint64_t pando_minimum_u64(const uint64_t* values, unsigned n);
