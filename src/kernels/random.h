// Random numbers by counting: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// Every element of a stream has its own 32 bits: element i of the stream (key, stream) is word i % 4 of the Philox block with counter
// {i / 4 low, i / 4 high, stream, attempt}. So numbers depend on key, stream and index alone, however the elements are cut into
// calls. Normal numbers are made from the words of two neighbours (2j, 2j + 1); distributions that reject use attempts 1, 2, ...
#pragma once

#include <cstdint>

#include "kernels/kernel.h"

struct PandoRandomStream {
  std::uint32_t key[2];
  std::uint32_t stream;
};

// Words of elements first .. first + n - 1.
PANDO_KERNEL void pando_random_bits(PandoRandomStream s, std::uint64_t first, std::uint64_t n, std::uint32_t* out);
// low + (high - low) * u, u a multiple of 2^-24 in [0, 1).
PANDO_KERNEL void pando_random_uniform(PandoRandomStream s, std::uint64_t first, std::uint64_t n, float low, float high, float* out);
// mean + deviation * z, z standard normal; |z| < 6.8.
PANDO_KERNEL void pando_random_normal(PandoRandomStream s, std::uint64_t first, std::uint64_t n, float mean, float deviation, float* out);
// The same, of those z with |z| <= alpha; alpha > 0.
PANDO_KERNEL void pando_random_truncated_normal(PandoRandomStream s, std::uint64_t first, std::uint64_t n, float mean, float deviation,
                                                float alpha, float* out);
