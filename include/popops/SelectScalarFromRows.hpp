#ifndef popops_SelectScalarFromRows_hpp
#define popops_SelectScalarFromRows_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace popops {

/// out[i] = params[i, indices[i]]. An index of MASKED_LABEL_CODE (EncodingConstants.hpp) gives 0, any other that is no column
/// gives NaN.
/// \p params: {rows, columns}, FLOAT or HALF. \p indices: {rows}, UNSIGNED_INT or INT. Returns {rows} of the type of \p params.
/// Throws poputil::poplibs_error for other types and shapes.
POPLAR_EXPORT poplar::Tensor selectScalarFromRows(poplar::Graph& graph, const poplar::Tensor& params, const poplar::Tensor& indices,
                                                  poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
