#ifndef popops_PerformanceEstimation_hpp
#define popops_PerformanceEstimation_hpp

#include <poplar/Export.hpp>
#include <poplar/Target.hpp>
#include <poplar/Type.hpp>

#include <cstdint>
#include <vector>

namespace popops {
namespace internal {

// What planners ask about: worker cycles of the vertices of Fill.hpp and Cast.hpp, equal to the estimates that profiles show for them.

struct FillTargetParameters {
  FillTargetParameters(const poplar::Target& target) : dataPathWidth(target.getDataPathWidth()) {}
  /// Bits.
  unsigned dataPathWidth;
};

/// Filling \p numElements elements in a row.
POPLAR_EXPORT std::uint64_t getFill1DCycleEstimate(const FillTargetParameters& targetParams, const poplar::Type& type,
                                                   const unsigned numElems);
/// Filling several runs of elements with one vertex.
POPLAR_EXPORT std::uint64_t getFill2DCycleEstimate(const FillTargetParameters& targetParams, const poplar::Type& type,
                                                   const std::vector<unsigned>& numElems);

struct CastTargetParameters {
  CastTargetParameters(const poplar::Target& target, const poplar::Type& fromType, const poplar::Type& toType)
      : numWorkerContexts(target.getNumWorkerContexts()),
        dataPathWidth(target.getDataPathWidth()),
        fromTypeSize(target.getTypeSize(fromType)),
        toTypeSize(target.getTypeSize(toType)) {}
  unsigned numWorkerContexts;
  /// Bits.
  unsigned dataPathWidth;
  /// Bytes.
  unsigned fromTypeSize;
  unsigned toTypeSize;
};

/// Casting several runs of elements with one vertex.
POPLAR_EXPORT std::uint64_t getCast2DCycleEstimate(const CastTargetParameters& targetParams, const poplar::Type& fromType,
                                                   const poplar::Type& toType, std::vector<unsigned>& elemCounts);
/// Casting \p numElems elements in a row with one worker.
POPLAR_EXPORT std::uint64_t getCast1DSingleWorkerCycleEstimate(const CastTargetParameters& targetParams, const poplar::Type& fromType,
                                                               const poplar::Type& toType, const unsigned numElems);
/// The same shared out to all workers of a tile.
POPLAR_EXPORT std::uint64_t getCast1DCycleEstimate(const CastTargetParameters& targetParams, const poplar::Type& fromType,
                                                   const poplar::Type& toType, const unsigned numElems);

}  // namespace internal
}  // namespace popops

#endif
