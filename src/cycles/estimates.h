// Published estimates of single vertices, in tile cycles and without the launch of the compute set. What they are checked
// against is in cycles_test.cpp and bench/cycles_bench.cpp.
#pragma once

#include <cstdint>

namespace pando::cycles {

// One pass of [rows, 16] x [16, 16], f16, through the matrix unit: 4 cycles per row of 16 results, and a constant that was
// fitted on the measurements with rows <= 128 (332 with the launch; those with rows <= 256 give the same).
constexpr std::uint64_t amp_f16_pass_cycles(std::uint64_t rows) { return 4 * rows + 251; }

// c[i] = a[i] op b[i] on n f32, shared by six workers (public poplibs estimator BinaryOp1D).
constexpr std::uint64_t binary_op_f32_cycles(std::uint64_t n) {
  std::uint64_t per_worker = (n + 5) / 6;
  return 6 * (29 + 3 * ((per_worker + 1) / 2)) + 11;
}

}  // namespace pando::cycles
