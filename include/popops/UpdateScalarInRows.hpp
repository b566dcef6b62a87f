#ifndef popops_UpdateScalarInRows_hpp
#define popops_UpdateScalarInRows_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <popops/ExprOp.hpp>

#include <string>

namespace popops {

/// params[i, indices[i]] -= 1, in place: with softmax's result for params, the gradient of cross entropy. An index of
/// MASKED_LABEL_CODE (EncodingConstants.hpp) leaves its row as it is; any other that is no column sets the row to NaN.
/// \p params: {rows, columns}, FLOAT or HALF. \p indices: {rows}, UNSIGNED_INT or INT.
/// Throws poputil::poplibs_error for other types and shapes, or if \p params cannot be written.
POPLAR_EXPORT void updateScalarInRows(poplar::Graph& graph, const poplar::Tensor& params, const poplar::Tensor& indices,
                                      poplar::program::Sequence& program, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
