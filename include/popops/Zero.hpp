#ifndef popops_Zero_hpp
#define popops_Zero_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <vector>

namespace popops {

// Tensors of any shape and type; what is zeroed is `t` itself. Elements that occur twice in `t` are written once. All throw
// poputil::poplibs_error if `t` holds constants.

/// Adds vertices to \p zeroCS that zero the intervals \p tileRegions of the flattened \p t, on tile \p tile.
POPLAR_EXPORT void zero(poplar::Graph& graph, poplar::Tensor t, const std::vector<poplar::Interval>& tileRegions, unsigned tile,
                        poplar::ComputeSet zeroCS);

/// Adds vertices to \p zeroCS that zero all of \p t, on tile \p tile.
POPLAR_EXPORT void zero(poplar::Graph& graph, const poplar::Tensor& t, unsigned tile, poplar::ComputeSet zeroCS);

/// Adds vertices to \p zeroCS that zero the intervals \p mapping[i] of the flattened \p t, on tile i.
POPLAR_EXPORT void zero(poplar::Graph& graph, const poplar::Tensor& t, const std::vector<std::vector<poplar::Interval>>& mapping,
                        poplar::ComputeSet zeroCS);

/// Zeroes \p t where it lies, in one compute set.
POPLAR_EXPORT void zero(poplar::Graph& graph, const poplar::Tensor& t, poplar::program::Sequence& prog,
                        const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
