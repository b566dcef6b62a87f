#ifndef popsparse_codelets_hpp
#define popsparse_codelets_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>

namespace popsparse {

/// Makes the vertices of the library known to \p graph. Sums and casts of results want popops::addCodelets, too.
POPLAR_EXPORT void addCodelets(poplar::Graph& graph);

}  // namespace popsparse

#endif
