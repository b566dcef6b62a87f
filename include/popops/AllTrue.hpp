#ifndef popops_AllTrue_hpp
#define popops_AllTrue_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <string>

namespace popops {

/// A BOOL scalar: are all elements of \p A true (not 0)? \p A: BOOL, INT or UNSIGNED_INT, any shape; without elements the answer
/// is yes. One compute set: tiles agree by their sync. Throws poputil::poplibs_error for other types.
POPLAR_EXPORT poplar::Tensor allTrue(poplar::Graph& graph, poplar::Tensor A, poplar::program::Sequence& prog,
                                     const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
