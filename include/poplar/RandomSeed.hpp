#ifndef poplar_RandomSeed_hpp
#define poplar_RandomSeed_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

/// Adds steps that bring the seeds of all workers into the returned tensor: UNSIGNED_INT {tiles, workers, 4}. The seeds are kept
/// in device memory, zero until they are set; the machine's own arithmetic does not use them.
POPLAR_EXPORT Tensor getHwSeeds(Graph& graph, program::Sequence& prog, const DebugContext& debugContext = {});
/// Adds steps that set the seeds of all workers. Throws control_program_error if the shape is another.
POPLAR_EXPORT void setHwSeeds(Graph& graph, const Tensor& hwSeeds, program::Sequence& prog, const DebugContext& debugContext = {});

}  // namespace poplar

#endif
