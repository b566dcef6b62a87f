#include "planning/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pando::planning {
namespace {

constexpr double kExchangePhase = 100;   // fixed part of an exchange, beside its sync
constexpr std::uint64_t kAmpCall = 141;  // the supervisor's part of one call
constexpr std::uint64_t kAmpPass = 20;   // of changing the weights in the unit, beside loading them
constexpr std::uint64_t kSumCall = 20;   // of a worker
// Of the links' rate, when all tiles send at once, in cycles of ipu2, on which it was fitted: machines with the same links have the same
// plans.
constexpr double kLinkShare = 0.8, kLinkClock = 1.33e9;

std::uint64_t up(std::uint64_t n, std::uint64_t d) { return (n + d - 1) / d; }
std::uint64_t whole(double n) { return static_cast<std::uint64_t>(std::ceil(std::max(n, 0.0))); }
double bytes_of(ElementType type) { return static_cast<double>(size_of(type)); }

}  // namespace

std::uint64_t amp_cycles(const AmpUnit& unit, std::uint64_t element_bytes, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  const std::uint64_t passes = up(n, unit.out) * up(k, unit.in);
  const std::uint64_t load = up(std::uint64_t{unit.in} * unit.out * element_bytes, unit.weight_bytes);
  return kAmpCall + passes * (load + kAmpPass + up(unit.in, unit.row_elements) * m);
}

// One vector is loaded and added a cycle; the result is stored beside the next load.
std::uint64_t sum_cycles(unsigned width, std::uint64_t partials, std::uint64_t elements) {
  return kSumCall + up(elements, width) * (partials + 1);
}

double remote_bytes_per_cycle(const Machine& machine) {
  return std::max(1.0, std::floor(kLinkShare * machine.links.in_card * machine.link_bytes_per_second / kLinkClock));
}

double bytes_per_tile(const Machine& machine) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<double>(machine.bounded_memory ? std::min(machine.bytes_per_tile(), kMost) : kMost);
}

CostModel::CostModel(const Machine& machine, const Host& host, Objective objective)
    : machine_(machine), host_(host), objective_(objective), remote_bytes_per_cycle_(remote_bytes_per_cycle(machine)) {}

Cost CostModel::exchange(double bytes, double runs, double remote_bytes) const {
  if (objective_ == Objective::host_time) return bytes / host_.operand_bytes + runs * host_.run;
  if (bytes <= 0) return 0;
  return machine_.sync_cycles_internal + kExchangePhase +
         std::max(bytes / machine_.exchange_bytes_per_cycle, remote_bytes / remote_bytes_per_cycle_);
}

Cost CostModel::block_product(double m, double n, double k, ElementType input, ElementType partials) const {
  if (objective_ == Objective::cycles)
    return machine_.launch_cycles +
           static_cast<double>(amp_cycles(amp_unit(machine_, input, partials), size_of(input), whole(m), whole(n), whole(k)));
  // Vectors of 16 floats; operands are read from the caches of others and the result written.
  const double columns = 16 * std::ceil(n / 16), bytes = (m * k + k * n) * bytes_of(input) + 8 * m * n;
  return host_.vertex + 2 * m * columns * k / host_.flops + bytes / host_.operand_bytes;
}

Cost CostModel::reduce(double partials, double elements, ElementType partials_type, ElementType output) const {
  const double workers = machine_.workers;
  if (objective_ == Objective::host_time) {
    const double bytes = elements * (partials * bytes_of(partials_type) + bytes_of(output));
    return workers * host_.vertex + bytes / host_.operand_bytes;
  }
  const std::uint64_t cycles = sum_cycles(vector_width(machine_, partials_type), whole(partials), whole(elements / workers));
  return machine_.launch_cycles + workers * static_cast<double>(cycles);
}

Cost CostModel::copy(double bytes, double run_bytes) const {
  const double runs = bytes / std::max(run_bytes, 1.0);
  if (objective_ == Objective::host_time) return bytes / host_.operand_bytes + runs * host_.run;
  return machine_.local_copy_call_cycles +
         bytes / std::min(static_cast<double>(machine_.memcpy_bytes_per_cycle), std::max(run_bytes, 1.0)) + runs;
}

}  // namespace pando::planning
