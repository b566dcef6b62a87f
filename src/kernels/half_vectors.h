// Halfs to floats and back, in vectors: for kernels.
#pragma once

#include <cstddef>

namespace pando::kernels {

void widen(const void* halfs, float* to, std::size_t n);
void narrow(const float* from, void* halfs, std::size_t n);

}  // namespace pando::kernels
