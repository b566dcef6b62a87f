/// popops::countedLoop by its older name, with the body as the last argument. Programs link popops.
#ifndef poputil_Loop_hpp
#define poputil_Loop_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poputil/DebugInfo.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace poputil {

/// Makes a loop's body. Called once, with the loop variable: UNSIGNED_INT, {1}, which the body must not write.
using CountedLoopBodyType = std::function<poplar::program::Program(const poplar::Tensor&)>;

/// for (i = begin; i < end; i += step) body. Throws poplibs_error for a step of 0, for an end that is not behind the beginning, and for
/// numbers beyond 32 bits.
POPLAR_EXPORT poplar::program::Sequence countedLoop(poplar::Graph& graph, std::size_t begin, std::size_t end, std::size_t step,
                                                    const poplar::DebugContext& debugContext, const CountedLoopBodyType& body);
/// for (i = 0; i < count; ++i) body.
POPLAR_EXPORT poplar::program::Sequence countedLoop(poplar::Graph& graph, std::size_t count, const poplar::DebugContext& debugContext,
                                                    const CountedLoopBodyType& body);

}  // namespace poputil

#endif
