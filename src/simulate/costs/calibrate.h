// What the host that runs this can do, as a machine: products, memory, messages between threads.
#pragma once

#include "simulate/cluster.h"

#include <functional>

namespace pando::simulate {

struct HostKernels {
  // C (m, n) = A (m, k) B (k, n), floats, row-major.
  std::function<void(std::int64_t m, std::int64_t k, std::int64_t n, const float* a, const float* b, float* c)> product;
};

// Measures for about `seconds`. Times are the best of several: another program on the host makes a run slower, never quicker.
Cluster calibrate_host(const HostKernels& kernels, double seconds = 2);

}  // namespace pando::simulate
