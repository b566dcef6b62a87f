#ifndef popops_NaN_hpp
#define popops_NaN_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

/// A BOOL scalar: is an element of \p src NaN? \p src: FLOAT or HALF, any shape; without elements the answer is no. Throws
/// poputil::poplibs_error for other types.
POPLAR_EXPORT poplar::Tensor hasNaN(poplar::Graph& graph, const poplar::Tensor& src, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {});

/// A BOOL scalar: is an element of \p src NaN or infinite?
POPLAR_EXPORT poplar::Tensor hasNaNOrInf(poplar::Graph& graph, const poplar::Tensor& src, poplar::program::Sequence& prog,
                                         const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
