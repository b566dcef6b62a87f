#include "popops/PerformanceEstimation.hpp"

#include <poplar/Target.hpp>

#include "poplibs/popops/data/estimate.h"

namespace popops::internal {

namespace {

// Cycles of one worker for runs of elements, `bytes` of each of which go through a data path of so many bits.
std::uint64_t cycles(std::uint64_t elements, std::uint64_t bytes, unsigned path_bits, std::uint64_t overhead) {
  return overhead + static_cast<std::uint64_t>(static_cast<double>(elements * bytes) * 8 / path_bits + 0.5);
}

std::uint64_t sum_of(const std::vector<unsigned>& counts) {
  std::uint64_t sum = 0;
  for (const unsigned n : counts) sum += n;
  return sum;
}

std::uint64_t overhead_of(std::size_t runs) { return LoopCost().overhead + runs * LoopCost().overhead_of_run; }

std::uint64_t size_of(const poplar::Type& type) { return poplar::Target().getTypeSize(type); }

}  // namespace

std::uint64_t getFill1DCycleEstimate(const FillTargetParameters& p, const poplar::Type& type, const unsigned numElems) {
  return cycles(numElems, size_of(type), p.dataPathWidth, LoopCost().overhead);
}

std::uint64_t getFill2DCycleEstimate(const FillTargetParameters& p, const poplar::Type& type, const std::vector<unsigned>& numElems) {
  return cycles(sum_of(numElems), size_of(type), p.dataPathWidth, overhead_of(numElems.size()));
}

std::uint64_t getCast2DCycleEstimate(const CastTargetParameters& p, const poplar::Type&, const poplar::Type&,
                                     std::vector<unsigned>& elemCounts) {
  return cycles(sum_of(elemCounts), p.fromTypeSize + p.toTypeSize, p.dataPathWidth, overhead_of(elemCounts.size()));
}

std::uint64_t getCast1DSingleWorkerCycleEstimate(const CastTargetParameters& p, const poplar::Type&, const poplar::Type&,
                                                 const unsigned numElems) {
  return cycles(numElems, p.fromTypeSize + p.toTypeSize, p.dataPathWidth, LoopCost().overhead);
}

std::uint64_t getCast1DCycleEstimate(const CastTargetParameters& p, const poplar::Type& fromType, const poplar::Type& toType,
                                     const unsigned numElems) {
  return getCast1DSingleWorkerCycleEstimate(p, fromType, toType, (numElems + p.numWorkerContexts - 1) / p.numWorkerContexts);
}

}  // namespace popops::internal
