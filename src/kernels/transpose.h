// Transposes of blocks of floats in vectors: for kernels.
#pragma once

#include <cstddef>

namespace pando::kernels {

// to[c * to_stride + r] = from[r * from_stride + c]
void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to, std::size_t to_stride);

}  // namespace pando::kernels
