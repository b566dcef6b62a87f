#include <algorithm>

#include <popops/Gather.hpp>

#include "poplibs/popops/slice/many.h"
#include "poplibs/popops/slice/xla_dims.h"

namespace popops {

using namespace poplar;
using internal::Dims;
using internal::Outside;
using internal::slice_error;
using program::Sequence;

namespace internal {

Tensor index_vectors(const char* function, const Tensor& indices, std::size_t vector_dim, std::size_t length) {
  if (indices.elementType() != UNSIGNED_INT && indices.elementType() != INT)
    slice_error(function, "indices are " + indices.elementType().toString() + ", expected unsigned int or int");
  if (vector_dim > indices.rank())
    slice_error(function, "indexVectorDim is " + std::to_string(vector_dim) + ", the indices have shape " + text(indices.shape()));
  const unsigned last = static_cast<unsigned>(std::max<std::size_t>(indices.rank(), vector_dim + 1) - 1);
  const Tensor vectors =
      vector_dim == indices.rank() ? indices.expand({indices.rank()}) : indices.dimRoll(static_cast<unsigned>(vector_dim), last);
  if (vectors.dim(last) != length)
    slice_error(function, "index vectors have " + std::to_string(vectors.dim(last)) + " elements, expected " + std::to_string(length));
  return vectors;
}

bool are_dims(const std::vector<std::size_t>& dims, std::size_t rank) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] >= rank || std::count(dims.begin(), dims.end(), dims[i]) != 1) return false;
  return true;
}

}  // namespace internal

namespace {

Dims sizes_of(const Dims& dims, const Dims& slice) {
  Dims out;
  for (const std::size_t d : dims) out.push_back(slice[d]);
  return out;
}

void check(const Tensor& input, const Dims& offset_dims, const Dims& slice_sizes, const Dims& collapsed, const Dims& starts) {
  const std::size_t rank = input.rank();
  if (slice_sizes.size() != rank)
    slice_error("gather",
                "sliceSizes has " + std::to_string(slice_sizes.size()) + " sizes for an input of shape " + internal::text(input.shape()));
  for (std::size_t d = 0; d < rank; ++d)
    if (slice_sizes[d] > input.dim(static_cast<unsigned>(d)))
      slice_error("gather", "slices of " + internal::text(slice_sizes) + " of an input of shape " + internal::text(input.shape()));
  if (!internal::are_dims(starts, rank)) slice_error("gather", "startIndexMap does not hold different dimensions of the input");
  if (!internal::are_dims(collapsed, rank)) slice_error("gather", "collapsedSliceDims does not hold different dimensions of the input");
  for (const std::size_t d : collapsed)
    if (slice_sizes[d] != 1)
      slice_error("gather",
                  "dimension " + std::to_string(d) + " of the slices is collapsed, but its size is " + std::to_string(slice_sizes[d]));
  if (offset_dims.size() != rank - collapsed.size())
    slice_error("gather", "offsetDims has " + std::to_string(offset_dims.size()) + " dimensions, slices have " +
                              std::to_string(rank - collapsed.size()));
}

}  // namespace

Tensor createGatherInput(Graph& graph, const Type& type, const std::vector<std::size_t>& shape, unsigned axis, GatherParams params,
                         const DebugContext& debugContext) {
  static_cast<void>(params);
  return createSliceableTensor(graph, type, shape, {axis}, {axis < shape.size() && shape[axis] == 0 ? 0u : 1u}, 0, debugContext);
}

Tensor createGatherInput(Graph& graph, const Type& type, const std::vector<std::size_t>& shape, const std::vector<std::size_t>& sliceSizes,
                         std::vector<unsigned> startIndexMap, const DebugContext& debugContext) {
  if (sliceSizes.size() != shape.size())
    slice_error("createGatherInput", "sliceSizes has " + std::to_string(sliceSizes.size()) + " sizes for shape " + internal::text(shape));
  const Dims dims(startIndexMap.begin(), startIndexMap.end());
  if (!internal::are_dims(dims, shape.size()))
    slice_error("createGatherInput", "startIndexMap does not hold different dimensions of the input");
  return createSliceableTensor(graph, type, shape, dims, sizes_of(dims, sliceSizes), 0, debugContext);
}

Tensor gather(Graph& graph, const Tensor& input, const Tensor& indices, unsigned axis, Sequence& prog, GatherParams params,
              const DebugContext& debugContext, const OptionFlags& options) {
  static_cast<void>(params);
  if (axis >= input.rank())
    slice_error("gather", "axis " + std::to_string(axis) + " of an input of shape " + internal::text(input.shape()));
  const Tensor vectors = internal::index_vectors("gather", indices, indices.rank(), 1);
  const std::size_t n = indices.numElements();
  if (input.dim(axis) == 0 && n != 0)
    slice_error("gather", "there is nothing along axis " + std::to_string(axis) + " of an input of shape " + internal::text(input.shape()));
  const Tensor slices = internal::slice_many(graph, input, vectors.reshape({n, 1}), {axis}, {input.dim(axis) == 0 ? 0u : 1u}, Outside::none,
                                             prog, SlicePlan(), options, {debugContext, "gather"});
  // {n, before, 1, after}
  const Tensor in_place = slices.dimRoll(0, axis);
  Dims shape = input.shape();
  const Dims own = indices.shape();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, own.begin(), own.end());
  return in_place.reshape(shape);
}

Tensor gather(Graph& graph, const Tensor& input, const Tensor& indices, std::size_t indexVectorDim,
              const std::vector<std::size_t>& offsetDims, const std::vector<std::size_t>& sliceSizes,
              const std::vector<std::size_t>& collapsedSliceDims, const std::vector<unsigned>& startIndexMap, Sequence& prog,
              const DebugContext& debugContext, const OptionFlags& options) {
  const Dims starts(startIndexMap.begin(), startIndexMap.end());
  check(input, offsetDims, sliceSizes, collapsedSliceDims, starts);
  const Tensor vectors = internal::index_vectors("gather", indices, indexVectorDim, starts.size());
  const Dims batch = [&] {
    Dims shape = vectors.shape();
    shape.pop_back();
    return shape;
  }();
  const std::size_t rank = batch.size() + offsetDims.size();
  if (!internal::are_dims(offsetDims, rank))
    slice_error("gather", "offsetDims does not hold different dimensions of a result of rank " + std::to_string(rank));
  // Dimensions without a start begin at 0.
  Tensor from = input;
  for (std::size_t d = 0; d < input.rank(); ++d)
    if (std::find(starts.begin(), starts.end(), d) == starts.end()) from = from.slice(0, sliceSizes[d], static_cast<unsigned>(d));
  std::size_t n = 1;
  for (const std::size_t b : batch) n *= b;
  Tensor slices = internal::slice_many(graph, from, vectors.reshape({n, starts.size()}), starts, sizes_of(starts, sliceSizes), Outside::fit,
                                       prog, SlicePlan(), options, {debugContext, "gather"});
  Dims shape = batch;
  for (std::size_t d = 0; d < input.rank(); ++d)
    if (std::find(collapsedSliceDims.begin(), collapsedSliceDims.end(), d) == collapsedSliceDims.end()) shape.push_back(sliceSizes[d]);
  slices = slices.reshape(shape);
  // The batch's dimensions fill the places that offsetDims leaves.
  std::vector<unsigned> order(rank);
  unsigned next = 0;
  for (unsigned d = 0; d < rank; ++d) {
    const auto at = std::find(offsetDims.begin(), offsetDims.end(), d);
    order[d] = at != offsetDims.end() ? static_cast<unsigned>(batch.size() + static_cast<std::size_t>(at - offsetDims.begin())) : next++;
  }
  return slices.dimShuffle(order);
}

}  // namespace popops
