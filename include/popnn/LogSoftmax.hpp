#ifndef popnn_LogSoftmax_hpp
#define popnn_LogSoftmax_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace popnn {

/// t = x - max - log(sum(exp(x - max))) along the last dimension of \p t, FLOAT or HALF, of at least one dimension. Throws
/// poputil::poplibs_error for other tensors and for those that are not parallel writeable.
POPLAR_EXPORT void logSoftmaxInPlace(poplar::Graph& graph, poplar::Tensor t, poplar::program::Sequence& prog,
                                     const poplar::DebugContext& debugContext = {});

/// The same into a new tensor of the same type and shape.
POPLAR_EXPORT poplar::Tensor logSoftmax(poplar::Graph& graph, poplar::Tensor t, poplar::program::Sequence& prog,
                                        const poplar::DebugContext& debugContext = {});

}  // namespace popnn

#endif
