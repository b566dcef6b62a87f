#include "simulate/costs/reference_costs.h"

namespace pando::simulate {

namespace {
constexpr double kBytesPerGigabit = 1.25e8;
}

ReferenceMachine reference_dgx2() {
  // Recovered from published points without a pipeline (devices, all-reduces) and with one (sends).
  ReferenceMachine m;
  m.seconds_per_byte = 6.0792882e-13;
  m.seconds_per_operation = 1.0310957e-14;
  m.gigabits_per_second = 1095.31;
  m.all_reduces = {
      {2, 0.0012520868, 5.2149e-5}, {4, 0.0016246232, 6.1087993e-5}, {8, 0.0017868597, 7.9451e-5}, {16, 0.0017947226, 1.69264e-4}};
  return m;
}

double ReferenceCosts::elementwise(std::int64_t elements, std::int64_t element_bytes, int tensors) const {
  return machine.launch + machine.bytes(static_cast<double>(tensors * elements * element_bytes)) +
         machine.operations(static_cast<double>(elements));
}

double ReferenceCosts::matmul(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t element_bytes) const {
  return machine.launch + machine.bytes(static_cast<double>(element_bytes * (m * k + k * n))) +
         machine.operations(2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n));
}

double ReferenceCosts::matmul_gradients(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t element_bytes) const {
  return matmul(m, n, k, element_bytes) + matmul(k, m, n, element_bytes);
}

double ReferenceCosts::send(std::int64_t bytes) const {
  return static_cast<double>(bytes) / kBytesPerGigabit / machine.gigabits_per_second;
}

double ReferenceCosts::all_reduce(std::int64_t bytes, std::int64_t devices) const {
  for (const auto& a : machine.all_reduces) {
    if (a.devices == devices) return a.slope * (static_cast<double>(bytes) / kBytesPerGigabit) + a.constant;
  }
  return 2 * (static_cast<double>(bytes) / kBytesPerGigabit) * static_cast<double>(devices - 1) / static_cast<double>(devices) /
         machine.gigabits_per_second;
}

double ReferenceCosts::gather(std::int64_t bytes, std::int64_t element_bytes) const {
  return static_cast<double>(bytes) * static_cast<double>(element_bytes) / kBytesPerGigabit / machine.gigabits_per_second;
}

}  // namespace pando::simulate
