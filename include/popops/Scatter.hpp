#ifndef popops_Scatter_hpp
#define popops_Scatter_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <functional>
#include <vector>

// Writing slices into a tensor at positions that are tensors themselves, with the dimensions described as XLA does.
namespace popops {

/// Dimension `indexVectorDim` of `indices` (UNSIGNED_INT or INT) holds index vectors; it may be the rank of `indices`: vectors of one
/// element. Element k of a vector is the start in dimension scatterDimsToOperandDims[k] of `operand`. The dimensions `updateWindowDims`
/// of `updates` are those of a slice, but for the dimensions `insertWindowDims` of `operand`, of which it has one entry; the others
/// are those of `indices` without `indexVectorDim`. Slices are written in order, row-major; one that does not lie inside `operand`
/// is left out. Throws poplibs_error for dimensions that do not fit the shapes or an operand that holds constants or an element twice.
POPLAR_EXPORT void scatter(poplar::Graph& graph, const poplar::Tensor& operand, const poplar::Tensor& indices,
                           const poplar::Tensor& updates, std::size_t indexVectorDim, std::vector<unsigned> updateWindowDims,
                           std::vector<std::size_t> insertWindowDims, std::vector<unsigned> scatterDimsToOperandDims,
                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                           const poplar::OptionFlags& optionFlags = {});

/// Adds to `prog` what computes the new value of the first tensor, the present slice, from the second, the update, both of the
/// update's shape; returns a tensor of that shape.
using UpdateComputationFunc = std::function<poplar::Tensor(poplar::Graph&, poplar::Tensor&, poplar::Tensor&, poplar::program::Sequence&)>;

/// Writes what `updateComputation` makes of the slice and the update, slice by slice in a loop. A slice that does not lie inside
/// `operand` is moved back until it does.
POPLAR_EXPORT void scatter(poplar::Graph& graph, const poplar::Tensor& operand, const poplar::Tensor& indices,
                           const poplar::Tensor& updates, std::size_t indexVectorDim, std::vector<unsigned> updateWindowDims,
                           std::vector<std::size_t> insertWindowDims, std::vector<unsigned> scatterDimsToOperandDims,
                           UpdateComputationFunc& updateComputation, poplar::program::Sequence& prog,
                           const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& optionFlags = {});

}  // namespace popops

#endif
