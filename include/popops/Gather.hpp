#ifndef popops_Gather_hpp
#define popops_Gather_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

#include <vector>

// Slices of a tensor at positions that are tensors themselves, with the dimensions described as XLA does. Indices are UNSIGNED_INT or
// INT. All throw poplibs_error for dimensions and sizes that do not fit the shapes.
namespace popops {

struct GatherParams {
  /// The largest share of an input that a tile should have; createGatherInput spreads over all tiles in any case.
  std::size_t maxElementsPerTile = 65535;
  GatherParams() = default;
  GatherParams(std::size_t maxElementsPerTile_) : maxElementsPerTile(maxElementsPerTile_) {}
};

/// A new tensor that is good to gather from along `axis`.
POPLAR_EXPORT poplar::Tensor createGatherInput(poplar::Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& operandShape,
                                               unsigned axis, GatherParams params = {}, const poplar::DebugContext& debugContext = {});

/// Entries `indices` of dimension `axis` of `input`: the result has the shape of `input` with the shape of `indices` in place of `axis`.
/// An index that does not exist gives zeros.
POPLAR_EXPORT poplar::Tensor gather(poplar::Graph& graph, const poplar::Tensor& input, const poplar::Tensor& indices, unsigned axis,
                                    poplar::program::Sequence& prog, GatherParams params, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& optionFlags = {});

/// A new tensor that is good to gather slices of `sliceSizes` from.
POPLAR_EXPORT poplar::Tensor createGatherInput(poplar::Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& inputShape,
                                               const std::vector<std::size_t>& sliceSizes, std::vector<unsigned> startIndexMap,
                                               const poplar::DebugContext& debugContext = {});

/// Dimension `indexVectorDim` of `indices` holds index vectors (it may be the rank of `indices`: vectors of one element). Element k of a
/// vector is the start in dimension startIndexMap[k] of a slice of `sliceSizes`. A start that the dimension does not have counts as 0; one
/// from which the slice would reach over the end is moved back until it does not. Slices lose the dimensions `collapsedSliceDims`, whose
/// sizes are 1. The dimensions `offsetDims` of the result, in order, are those of slices, the others those of `indices` without
/// `indexVectorDim`.
POPLAR_EXPORT poplar::Tensor gather(poplar::Graph& graph, const poplar::Tensor& input, const poplar::Tensor& indices,
                                    std::size_t indexVectorDim, const std::vector<std::size_t>& offsetDims,
                                    const std::vector<std::size_t>& sliceSizes, const std::vector<std::size_t>& collapsedSliceDims,
                                    const std::vector<unsigned>& startIndexMap, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& optionFlags = {});

}  // namespace popops

#endif
