#ifndef popops_ElementWiseUtil_hpp
#define popops_ElementWiseUtil_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <vector>

namespace popops {

/// A variable for the result of an element-wise operation: of the inputs' shape, broadcast against each other, and mapped as the
/// input that is best spread over the tiles; linearly over all tiles if none is spread. Throws poputil::poplibs_error if there is no input
/// or the shapes do not fit.
POPLAR_EXPORT poplar::Tensor createOutputForElementWiseOp(poplar::Graph& graph, const std::vector<poplar::Tensor>& inputs,
                                                          const poplar::Type& outputType, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
