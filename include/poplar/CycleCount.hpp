#ifndef poplar_CycleCount_hpp
#define poplar_CycleCount_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/SyncType.hpp>
#include <poplar/Tensor.hpp>

#include <string>

namespace poplar {

/// Wraps `prog` so that the cycles that it takes, by the clock of the cycle model on that tile, go into the returned tensor:
/// UNSIGNED_INT {2}, the low word first. Throws invalid_tile_mapping if there is no such tile.
POPLAR_EXPORT Tensor cycleCount(Graph& graph, program::Sequence& prog, unsigned tile, SyncType syncType = SyncType::INTERNAL,
                                const DebugContext& debugContext = {});
/// The old forms.
POPLAR_EXPORT Tensor cycleCount(Graph& graph, program::Sequence& prog, unsigned tile, const char* debugPrefix);
POPLAR_EXPORT Tensor cycleCount(Graph& graph, program::Sequence& prog, unsigned tile, const std::string& debugPrefix);
/// Adds a step that writes the clock of that tile into the returned tensor: UNSIGNED_INT {2}, the low word first.
POPLAR_EXPORT Tensor cycleStamp(Graph& graph, program::Sequence& prog, unsigned tile, SyncType syncType = SyncType::INTERNAL,
                                const DebugContext& debugContext = {});

}  // namespace poplar

#endif
