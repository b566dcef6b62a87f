#ifndef popfloat_experimental_codelets_hpp
#define popfloat_experimental_codelets_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>

namespace popfloat {
namespace experimental {

/// Adds the codelets of this library to \p graph; call it before any other function of the library. Adding them twice is free.
/// Throws poplar::file_load_error if popfloat.gp, which lies beside the library, cannot be read.
POPLAR_EXPORT void addCodelets(poplar::Graph& graph);

}  // namespace experimental
}  // namespace popfloat

#endif
