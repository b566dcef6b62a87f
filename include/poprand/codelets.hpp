#ifndef poprand_codelets_hpp
#define poprand_codelets_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>

namespace poprand {

/// Adds the codelets of this library to \p graph; call it before any other function of the library. Adding them twice is free.
/// Throws poplar::file_load_error if poprand.gp, which lies beside the library, cannot be read.
POPLAR_EXPORT void addCodelets(poplar::Graph& graph);

}  // namespace poprand

#endif
