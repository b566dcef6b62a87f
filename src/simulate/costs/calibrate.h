// What the host that runs this can do, as a machine: products, memory, messages between threads.
#pragma once

#include "simulate/cluster.h"

#include <functional>

namespace pando::simulate {

struct HostKernels {
  // C (m, n) = A (m, k) B (k, n), floats, row-major.
  std::function<void(std::int64_t m, std::int64_t k, std::int64_t n, const float* a, const float* b, float* c)> product;
};

// Measures for about `seconds`, longer on a host that does other things. Times are the best of several: another program on the host makes a
// run slower, never quicker. Rejects what reject_implausible does.
Cluster calibrate_host(const HostKernels& kernels, double seconds = 2);

// The best of the times that `measure` gives, which it is asked for until one is within a fifth of the best before it, some times at the
// most.
double agreed_seconds(const std::function<double()>& measure);

// Rejects (no_environment) a machine that no host is, as measurements among other programs make it: a rate beyond 10^4 GB/s, a message of
// more than 10 ms, what is no number or not more than 0.
void reject_implausible(const Cluster& host);

}  // namespace pando::simulate
