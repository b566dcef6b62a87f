#include "poplibs/poplin/plan/cost.h"

#include <algorithm>
#include <cmath>

namespace poplin::plan {
namespace {

constexpr double kLaunch = 81;            // of a compute set
constexpr double kSync = 90;              // inside an IPU
constexpr double kExchangePhase = 100;    // fixed part of an exchange
constexpr double kAmpCall = 141;          // the supervisor's part of one call
constexpr double kAmpPass = 20;           // of changing the weights in the unit, beside loading them
constexpr double kRemoteBytesPerCycle = 35;  // of the IPU-Links between two IPUs of different cards, together
constexpr double kLocalCopyCall = 288;

// Nanoseconds of one host thread.
constexpr double kHostFlopsPerNanosecond = 100;
constexpr double kHostBytesPerNanosecond = 10;
constexpr double kHostVertex = 30;
constexpr double kHostRun = 8;

std::uint64_t up(std::uint64_t n, std::uint64_t d) { return (n + d - 1) / d; }
std::uint64_t whole(double n) { return static_cast<std::uint64_t>(std::ceil(std::max(n, 0.0))); }

}  // namespace

CostModel::CostModel(const poplar::Target& target, Objective objective)
    : target_(target), objective_(objective), workers_(target.getNumWorkerContexts()), exchange_bytes_(target.getExchangeBytesPerCycle()),
      copy_bytes_(target.getMemcpyBytesPerCycle()), sync_(kSync) {}

AmpShape CostModel::amp_shape(const poplar::Type& input, const poplar::Type& partials) const {
  return {target_.getWeightsPerConvUnit(input), target_.getNumConvUnits(input, partials)};
}

Cost CostModel::exchange(double bytes, double runs, double remote_bytes) const {
  if (objective_ == Objective::host_time) return bytes / kHostBytesPerNanosecond + runs * kHostRun;
  if (bytes <= 0) return 0;
  return sync_ + kExchangePhase + std::max(bytes / exchange_bytes_, remote_bytes / kRemoteBytesPerCycle);
}

Cost CostModel::block_product(double m, double n, double k, const poplar::Type& input, const poplar::Type& partials) const {
  if (objective_ == Objective::cycles) return kLaunch + static_cast<double>(amp_cycles(target_, whole(m), whole(n), whole(k), input, partials));
  // Vectors of 16 floats; operands are read from the caches of others and the result written.
  const double columns = 16 * std::ceil(n / 16), bytes = (m * k + k * n) * static_cast<double>(target_.getTypeSize(input)) + 8 * m * n;
  return kHostVertex + 2 * m * columns * k / kHostFlopsPerNanosecond + bytes / kHostBytesPerNanosecond;
}

Cost CostModel::reduce(double partials, double elements, const poplar::Type& partials_type, const poplar::Type& output) const {
  if (objective_ == Objective::host_time) {
    const double bytes = elements * (partials * static_cast<double>(target_.getTypeSize(partials_type)) + static_cast<double>(target_.getTypeSize(output)));
    return workers_ * kHostVertex + bytes / kHostBytesPerNanosecond;
  }
  return kLaunch + workers_ * static_cast<double>(sum_cycles(target_, whole(partials), whole(elements / workers_), partials_type));
}

Cost CostModel::copy(double bytes, double run_bytes) const {
  const double runs = bytes / std::max(run_bytes, 1.0);
  if (objective_ == Objective::host_time) return bytes / kHostBytesPerNanosecond + runs * kHostRun;
  return kLocalCopyCall + bytes / std::min(copy_bytes_, std::max(run_bytes, 1.0)) + runs;
}

Cost CostModel::elementwise(double elements, const poplar::Type& type, unsigned operands) const {
  const double bytes = elements * static_cast<double>(target_.getTypeSize(type));
  if (objective_ == Objective::host_time) return workers_ * kHostVertex + bytes * (operands + 1) / kHostBytesPerNanosecond;
  return kLaunch + workers_ * 20 + (operands + 1) * bytes / 8;
}

std::uint64_t amp_cycles(const poplar::Target& target, std::uint64_t m, std::uint64_t n, std::uint64_t k, const poplar::Type& input,
                         const poplar::Type& partials) {
  const std::uint64_t in = target.getWeightsPerConvUnit(input), out = target.getNumConvUnits(input, partials);
  const std::uint64_t passes = up(n, out) * up(k, in);
  const std::uint64_t load = up(in * out * target.getTypeSize(input), target.getConvUnitCoeffLoadBytesPerCycle());
  const std::uint64_t row = up(in, target.getConvUnitInputLoadElemsPerCycle(input));
  return static_cast<std::uint64_t>(kAmpCall) + passes * (load + static_cast<std::uint64_t>(kAmpPass) + row * m);
}

std::uint64_t sum_cycles(const poplar::Target& target, std::uint64_t partials, std::uint64_t elements, const poplar::Type& partials_type) {
  // One vector is loaded and added a cycle; the result is stored beside the next load.
  return 20 + up(elements, target.getVectorWidth(partials_type)) * (partials + 1);
}

}  // namespace poplin::plan
