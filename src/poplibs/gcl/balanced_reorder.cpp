#include <algorithm>
#include <limits>

#include "gcl/CollectiveBalancedReorder.hpp"
#include "poplibs/poputil/reject.h"

namespace gcl {

using namespace poplar;

namespace {

// Calls copy(reference, rearranged, elements) for each piece of the reference.
template <class Visit>
void for_each_piece(const CollectiveBalancedHostRearrangement& r, Visit visit) {
  std::size_t at = 0;
  for (const Interval& slice : r.getGatheredToRefSlices()) {
    visit(at, slice.begin(), slice.size());
    at += slice.size();
  }
  for (const unsigned element : r.getElementMap()) visit(at++, element, 1);
}

// The reference's number of elements.
std::size_t check(const CollectiveBalancedHostRearrangement& r, const char* function, std::int64_t reference, std::int64_t rearranged,
                  std::int64_t element) {
  const std::size_t total = r.getNumRearrangedTensorElems();
  std::size_t elements = 0;
  for_each_piece(r, [&](std::size_t, std::size_t begin, std::size_t size) {
    if (begin > total || size > total - begin)
      poputil::reject("cbr-slices", "{}: elements {} to {} of a rearranged tensor of {}", function, begin, begin + size, total);
    elements += size;
  });
  const auto fits = [&](std::int64_t bytes, std::size_t count) {
    return bytes >= 0 && static_cast<std::uint64_t>(bytes) / static_cast<std::uint64_t>(element) >= count;
  };
  if (element <= 0 || !fits(reference, elements) || !fits(rearranged, total))
    poputil::reject("cbr-buffer", "{}: buffers of {} and {} bytes; there are {} elements and {} rearranged ones, of {} bytes", function,
                    reference, rearranged, elements, total, element);
  return elements;
}

std::size_t rounded_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

void CollectiveBalancedHostRearrangement::setGatheredToRefSlices(std::vector<Interval> slices) { gatheredToRefSlices_ = std::move(slices); }

void CollectiveBalancedHostRearrangement::setElementMap(std::vector<unsigned> map) { elementMap_ = std::move(map); }

void CollectiveBalancedHostRearrangement::rearrangeForCollective(const char* in, std::int64_t inSize, char* out, std::int64_t outSize,
                                                                 std::int64_t elemByteSize) const {
  check(*this, "rearrangeForCollective", inSize, outSize, elemByteSize);
  const auto bytes = static_cast<std::size_t>(elemByteSize);
  std::fill_n(out, getNumRearrangedTensorElems() * bytes, '\0');
  for_each_piece(*this, [&](std::size_t reference, std::size_t rearranged, std::size_t size) {
    std::copy_n(in + reference * bytes, size * bytes, out + rearranged * bytes);
  });
}

void CollectiveBalancedHostRearrangement::undoRearrangeForCollective(const char* in, std::int64_t inSize, char* out, std::int64_t outSize,
                                                                     std::int64_t elemByteSize) const {
  check(*this, "undoRearrangeForCollective", outSize, inSize, elemByteSize);
  const auto bytes = static_cast<std::size_t>(elemByteSize);
  for_each_piece(*this, [&](std::size_t reference, std::size_t rearranged, std::size_t size) {
    std::copy_n(in + rearranged * bytes, size * bytes, out + reference * bytes);
  });
}

CollectiveBalancedReorder::CollectiveBalancedReorder(Graph& graph, Tensor tensor, unsigned replicationFactor, const DebugNameAndId& dnai,
                                                     bool allowElementMap, unsigned grainSize)
    : graph_(graph), dnai_(dnai), referenceShape_(tensor.shape()) {
  if (replicationFactor == 0 || grainSize == 0)
    poputil::reject("cbr-replicas", "CollectiveBalancedReorder: {} replicas, grains of {} elements; there is at least one",
                    replicationFactor, grainSize);
  // The reference's elements in its order: where they are on their tile, and where that tile's parts are.
  struct ReferencePiece {
    Interval reference;
    std::size_t on_tile, part;
  };
  std::vector<ReferencePiece> pieces;
  std::size_t per_replica = 0;
  auto mapping = graph.getTileMapping(tensor);
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    std::sort(mapping[tile].begin(), mapping[tile].end());
    std::size_t here = 0;
    for (const Interval& interval : mapping[tile]) {
      pieces.push_back({interval, here, parts_.size()});
      here += interval.size();
    }
    if (here == 0) continue;
    const std::size_t size = rounded_up((here + replicationFactor - 1) / replicationFactor, grainSize);
    parts_.push_back({tile, per_replica, size});
    per_replica += size;
  }
  constexpr std::size_t kMost = std::size_t{1} << 48;
  if (per_replica > kMost / replicationFactor)
    poputil::reject("cbr-replicas", "CollectiveBalancedReorder: {} elements for each of {} replicas, more than memory addresses",
                    per_replica, replicationFactor);
  std::sort(pieces.begin(), pieces.end(),
            [](const ReferencePiece& a, const ReferencePiece& b) { return a.reference.begin() < b.reference.begin(); });
  for (const ReferencePiece& piece : pieces) {
    const Part& part = parts_[piece.part];
    for (std::size_t done = 0; done < piece.reference.size();) {
      const std::size_t at = piece.on_tile + done, replica = at / part.size, within = at % part.size;
      const std::size_t size = std::min(part.size - within, piece.reference.size() - done),
                        begin = replica * per_replica + part.begin + within;
      if (!slices_.empty() && slices_.back().end() == begin)
        slices_.back() = Interval(slices_.back().begin(), begin + size);
      else
        slices_.emplace_back(begin, begin + size);
      done += size;
    }
  }
  host_.setReplicationFactor(replicationFactor);
  host_.setTotalElementsPerReplica(per_replica);
  const bool map_is_smaller = slices_.size() * sizeof(Interval) > tensor.numElements() * sizeof(unsigned);
  if (!allowElementMap || !map_is_smaller || host_.getNumRearrangedTensorElems() > std::numeric_limits<unsigned>::max()) {
    host_.setGatheredToRefSlices(slices_);
    return;
  }
  std::vector<unsigned> map;
  for (const Interval& slice : slices_)
    for (std::size_t i = slice.begin(); i < slice.end(); ++i) map.push_back(static_cast<unsigned>(i));
  host_.setElementMap(std::move(map));
}

Tensor CollectiveBalancedReorder::createReplicaSlice(const Type& type) {
  const Tensor out = graph_.addVariable(type, {host_.getTotalElementsPerReplica()}, {dnai_, "replicaSlice"});
  for (const Part& part : parts_) graph_.setTileMapping(out.slice(part.begin, part.begin + part.size), part.tile);
  return out;
}

Tensor CollectiveBalancedReorder::createCollectivesTensor(const Type& type, const std::string& debugPrefix) {
  const std::size_t replicas = host_.getReplicationFactor();
  if (parts_.empty()) return graph_.addVariable(type, {replicas, 0}, {dnai_, debugPrefix});
  // A tile's parts lie together, in the order of the replicas.
  const Tensor all = graph_.addVariable(type, {host_.getNumRearrangedTensorElems()}, {dnai_, debugPrefix});
  std::vector<Tensor> of_tiles;
  for (const Part& part : parts_) {
    const Tensor here = all.slice(replicas * part.begin, replicas * (part.begin + part.size));
    graph_.setTileMapping(here, part.tile);
    of_tiles.push_back(here.reshape({replicas, part.size}));
  }
  return concat(of_tiles, 1);
}

Tensor CollectiveBalancedReorder::undoRearrangeForCollective(const Tensor& tensor) const {
  if (tensor.numElements() != host_.getNumRearrangedTensorElems())
    poputil::reject("cbr-tensor", "undoRearrangeForCollective: a tensor of {} elements; a rearranged one has {} replicas of {}",
                    tensor.numElements(), host_.getReplicationFactor(), host_.getTotalElementsPerReplica());
  const Tensor elements = tensor.flatten();
  if (slices_.empty()) return elements.slice(0, 0).reshape(referenceShape_);
  return concat(elements.slices(slices_)).reshape(referenceShape_);
}

}  // namespace gcl
