#ifndef poputil_Util_hpp
#define poputil_Util_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Device.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Program.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>

#include <algorithm>
#include <cassert>
#include <climits>
#include <string>
#include <vector>

namespace poputil {

/// Sorts the regions and joins those that touch; empty ones go.
POPLAR_EXPORT void mergeAdjacentRegions(std::vector<poplar::Interval>& regions);
/// The same for each list.
POPLAR_EXPORT void mergeAdjacentRegions(std::vector<std::vector<poplar::Interval>>& mapping);

/// All lists in one.
POPLAR_EXPORT std::vector<poplar::Interval> flattenIntervals(const std::vector<std::vector<poplar::Interval>>& intervals);

/// Cuts regions, in their order, into at most \p maxPartitions lists whose largest is as small as possible; of those ways, one with
/// the fewest lists. Cuts are at multiples of \p grainSize elements, counted over all regions.
/// \param minElementsPerPartition  no list has fewer, unless that is all there is
/// \param maxElementsPerPartition  no list has more (but it has one grain at least); this may take more lists than maxPartitions
/// \param maxElementsPerRegion  longer regions are cut, inside a list
POPLAR_EXPORT std::vector<std::vector<poplar::Interval>> splitRegions(const std::vector<poplar::Interval>& regions, unsigned grainSize,
                                                                      unsigned maxPartitions, unsigned minElementsPerPartition = 0,
                                                                      unsigned maxElementsPerPartition = UINT_MAX,
                                                                      unsigned maxElementsPerRegion = UINT_MAX);

/// splitRegions with as many partitions as a tile of the target has vertices for one piece of work: one per worker on an IPU.
POPLAR_EXPORT std::vector<std::vector<poplar::Interval>> splitRegionsBetweenWorkers(
    const poplar::Target& target, const std::vector<poplar::Interval>& regions, unsigned grainSize, unsigned minElementsPerPartition = 0,
    unsigned maxElementsPerPartition = UINT_MAX, unsigned maxElementsPerRegion = UINT_MAX);

/// The same for regions that consist of several intervals each (what Graph::getSortedContiguousRegions returns): intervals of
/// one region stay in one list where the region is not cut. \p maxElementsPerRegion bounds the sum of such a list.
POPLAR_EXPORT std::vector<std::vector<std::vector<poplar::Interval>>> splitRegions(
    const std::vector<std::vector<poplar::Interval>>& regions, unsigned grainSize, unsigned maxPartitions,
    unsigned minElementsPerPartition = 0, unsigned maxElementsPerPartition = UINT_MAX, unsigned maxElementsPerRegion = UINT_MAX);

POPLAR_EXPORT std::vector<std::vector<std::vector<poplar::Interval>>> splitRegionsBetweenWorkers(
    const poplar::Target& target, const std::vector<std::vector<poplar::Interval>>& regions, unsigned grainSize,
    unsigned minElementsPerPartition = 0, unsigned maxElementsPerPartition = UINT_MAX, unsigned maxElementsPerRegion = UINT_MAX);

/// The coordinates, in row-major order, of element \p index of a tensor of this shape.
template <class T> std::vector<T> unflattenIndex(const std::vector<T>& shape, std::size_t index) {
  std::vector<T> coordinates(shape);
  for (auto c = coordinates.rbegin(); c != coordinates.rend(); ++c) {
    const std::size_t size = static_cast<std::size_t>(*c);
    *c = static_cast<T>(index % size);
    index /= size;
  }
  assert(index == 0);
  return coordinates;
}

/// The inverse: the row-major number of the element with these coordinates.
template <class T> std::size_t flattenIndex(const std::vector<T>& shape, const std::vector<T>& indices) {
  assert(shape.size() == indices.size());
  std::size_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(indices[d]);
  return index;
}

/// Elements of all intervals.
POPLAR_EXPORT std::size_t intervalSequenceNumElements(const std::vector<std::vector<poplar::Interval>>& seq);

/// A clone of \p in and, added to \p p, the copy into it.
POPLAR_EXPORT poplar::Tensor duplicate(poplar::Graph& graph, const poplar::Tensor& in, poplar::program::Sequence& p,
                                       const poplar::DebugContext& debugContext = {},
                                       poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);

/// N clones of \p t, one after the other in a new dimension 0.
POPLAR_EXPORT poplar::Tensor cloneN(poplar::Graph& graph, const poplar::Tensor& t, unsigned N,
                                    const poplar::DebugContext& debugContext = {},
                                    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);

/// The sizes of the parts of 0 ... rangeUpperBound - 1 cut into \p splitCount parts that differ by one at most, larger ones first.
/// Throws poplibs_error for a negative range or no parts.
POPLAR_EXPORT std::vector<int> balancedPartition(int rangeUpperBound, int splitCount);

/// \p input rounded to half as the device does.
POPLAR_EXPORT double castToDeviceHalfValue(const poplar::Target& target, double input);

/// Does \p input, held in \p inputType, lose no more than the relative error \p tolerance when it is cast to \p outputType? FLOAT
/// and HALF only: throws poplibs_error for other types.
POPLAR_EXPORT bool checkAccuracyWhenCast(const poplar::Target& target, double input, poplar::Type inputType, poplar::Type outputType,
                                         double tolerance);

/// Splits dimension startDim + i in two, size / factors[i] and factors[i]; first come all quotients, then all factors: shape {6,4}
/// with factors {3,2} becomes {2,2,3,2}. Throws poplibs_error for a factor that does not divide its dimension.
POPLAR_EXPORT poplar::Tensor factorDims(const poplar::Tensor& t, const std::vector<std::size_t>& factors, unsigned startDim = 0);

/// The inverse: joins dimension startDim + i with startDim + numDims + i, for each i < numDims.
POPLAR_EXPORT poplar::Tensor unfactorDims(const poplar::Tensor& t, unsigned numDims, unsigned startDim = 0);

/// Metadata of QUARTER tensors, on tile 0. Throw poplar::overflow_error for a scale outside -32 ... 31.
POPLAR_EXPORT poplar::Tensor createConstantMetadataTensor(poplar::Graph& graph, poplar::QuarterMetadata::Format fp8Format, int fp8Scale);
POPLAR_EXPORT poplar::Tensor createVariableMetadataTensor(poplar::Graph& graph, poplar::QuarterMetadata::Format fp8Format, int fp8Scale);

/// The intervals that undo a shuffle: if s = concat(t.slices(intervals)) has all of t, then concat(s.slices(result)) is t.
POPLAR_EXPORT std::vector<poplar::Interval> calculateUnshufflingIntervals(const std::vector<poplar::Interval>& intervals);

}  // namespace poputil

#endif
