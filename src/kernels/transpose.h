// Transposes of blocks of floats, in vectors.
#pragma once

#include <cstddef>

#include "kernels/kernel.h"

// to[c * to_stride + r] = from[r * from_stride + c]
PANDO_KERNEL void pando_transpose_f32(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to,
                                      std::size_t to_stride);

namespace pando::kernels {

// The same, for kernels.
void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to, std::size_t to_stride);

}  // namespace pando::kernels
