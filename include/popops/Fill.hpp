#ifndef popops_Fill_hpp
#define popops_Fill_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/TypeTraits.hpp>

#include <vector>

namespace popops {

// Tensors of any shape and type; the value is converted to the tensor's type as C++ does (half: rounded to the nearest, ties to
// even). FillValueType is any arithmetic type of C++. Elements that occur twice in `t` are written once. All throw
// poputil::poplibs_error if `t` holds constants.

/// Adds vertices to \p fillCS that fill the intervals \p tileRegions of the flattened \p t, on tile \p tile.
template <typename FillValueType>
POPLAR_EXPORT void fill(poplar::Graph& graph, poplar::Tensor t, const std::vector<poplar::Interval>& tileRegions, unsigned tile,
                        poplar::ComputeSet fillCS, FillValueType fillValue);

/// Adds vertices to \p fillCS that fill all of \p t, on tile \p tile.
template <typename FillValueType>
POPLAR_EXPORT void fill(poplar::Graph& graph, const poplar::Tensor& t, unsigned tile, poplar::ComputeSet fillCS, FillValueType fillValue);

/// Adds vertices to \p fillCS that fill the intervals \p mapping[i] of the flattened \p t, on tile i.
template <typename FillValueType>
POPLAR_EXPORT void fill(poplar::Graph& graph, const poplar::Tensor& t, const std::vector<std::vector<poplar::Interval>>& mapping,
                        poplar::ComputeSet fillCS, FillValueType fillValue);

/// Fills \p t where it lies, in one compute set.
template <typename FillValueType>
POPLAR_EXPORT void fill(poplar::Graph& graph, const poplar::Tensor& t, poplar::program::Sequence& prog, FillValueType fillValue,
                        const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
