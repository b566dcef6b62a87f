// The cost functions of DistIR's simulator, seconds. They are wrong in places (what an op writes is free; an optimizer step costs as much
// as its last weight; gathers count an element's size twice): figures that were published with them come out only so.
#pragma once

#include <cstdint>
#include <vector>

namespace pando::simulate {

struct ReferenceMachine {
  // Of one device. Times for a byte and for an operation; 0: from bandwidth and throughput, by division.
  double throughput = 1.4e13, bandwidth = 9e11;
  double seconds_per_byte = 0, seconds_per_operation = 0;
  double launch = 1e-5;
  // Between any two devices.
  double gigabits_per_second = 25;
  // Measured all-reduces, if any: seconds = slope[n] * gigabits + constant[n].
  struct AllReduce {
    std::int64_t devices = 0;
    double slope = 0, constant = 0;
  };
  std::vector<AllReduce> all_reduces;

  double bytes(double n) const { return seconds_per_byte > 0 ? n * seconds_per_byte : n / bandwidth; }
  double operations(double n) const { return seconds_per_operation > 0 ? n * seconds_per_operation : n / throughput; }
};

// The machine of the published grid: 16 V100 of a DGX-2, half precision.
ReferenceMachine reference_dgx2();

struct ReferenceCosts {
  ReferenceMachine machine;

  // `tensors`: how many of the first two operands are tensors.
  double elementwise(std::int64_t elements, std::int64_t element_bytes, int tensors) const;
  // (m, k) times (k, n).
  double matmul(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t element_bytes) const;
  // Both gradients of a matmul of x (m, k) and y (k, n).
  double matmul_gradients(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t element_bytes) const;
  double send(std::int64_t bytes) const;
  double all_reduce(std::int64_t bytes, std::int64_t devices) const;
  // Gathers and reductions to one device.
  double gather(std::int64_t bytes, std::int64_t element_bytes) const;
  double launch() const { return machine.launch; }
};

}  // namespace pando::simulate
