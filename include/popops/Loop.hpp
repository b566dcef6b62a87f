#ifndef popops_Loop_hpp
#define popops_Loop_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poputil/DebugInfo.hpp>
#include <poputil/VertexTemplates.hpp>

#include <cstddef>
#include <functional>

namespace popops {

/// Makes a loop's body. Called once, with the loop variable: UNSIGNED_INT, {1}, which the body must not write.
using CountedLoopBodyType = std::function<poplar::program::Program(const poplar::Tensor&)>;

/// for (i = begin; i < end; i += step) body. All known when the program is built. Throws poputil::poplibs_error for a step of 0, for
/// an end before the beginning, and for numbers beyond 32 bits.
POPLAR_EXPORT poplar::program::Sequence countedLoop(poplar::Graph& graph, std::size_t begin, std::size_t end, std::size_t step,
                                                    const CountedLoopBodyType& body, const poplar::DebugContext& debugContext = {});
/// for (i = 0; i < count; ++i) body.
POPLAR_EXPORT poplar::program::Sequence countedLoop(poplar::Graph& graph, std::size_t count, const CountedLoopBodyType& body,
                                                    const poplar::DebugContext& debugContext = {});

/// Adds a step to \p prog: count += countStep. Returns a BOOL scalar that the step sets to whether \p countLimit has not been
/// reached: count < countLimit, or count > countLimit for a negative step.
/// \p count, \p countLimit: one element each of the same type, INT or UNSIGNED_INT. The vertex is on \p tile.
/// Throws poputil::poplibs_error for other types and sizes, and for a step of 0.
POPLAR_EXPORT poplar::Tensor addForLoopCounterVertex(poplar::Graph& graph, const poplar::Tensor& count, const poplar::Tensor& countLimit,
                                                     int countStep, unsigned tile, poplar::program::Sequence& prog,
                                                     const poplar::DebugContext& di);

/// for (count = initialCount; count < countLimit; count += countStep) body; with > for a negative step. The limit is read before
/// each round. \p count: a variable, INT or UNSIGNED_INT, of one element; \p countLimit: the same type. Errors: see
/// addForLoopCounterVertex.
POPLAR_EXPORT poplar::program::Sequence countedForLoop(poplar::Graph& graph, const poplar::Tensor& count, int initialCount,
                                                       const poplar::Tensor& countLimit, int countStep,
                                                       const poplar::program::Program& body, const poplar::DebugContext& debugContext = {});
/// The same with a count of its own.
POPLAR_EXPORT poplar::program::Sequence countedForLoop(poplar::Graph& graph, int initialCount, const poplar::Tensor& countLimit,
                                                       int countStep, const poplar::program::Program& body,
                                                       const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
