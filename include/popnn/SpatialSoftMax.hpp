#ifndef popnn_SpatialSoftMax_hpp
#define popnn_SpatialSoftMax_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <popnn/NonLinearity.hpp>

#include <utility>

namespace popnn {

/// Where the weight of each of a number of fields is. \p fields {fields, height, width}, FLOAT or HALF, are divided by the temperature
/// and made weights by a softmax over each field (unless \p disableSoftmax: then they are weights as they are). Returns the weighted
/// sums of the coordinates, {fields, 2}: of rows, then of columns, both from -1 for the first to 1 for the last (0 if there is one); and
/// the temperature, a scalar variable that holds \p temperature when the program is loaded.
/// Throws poputil::poplibs_error for other shapes and types and if the temperature is 0.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> spatialSoftMax2D(poplar::Graph& graph, poplar::program::Sequence& prog,
                                                                         const poplar::Tensor& fields, float temperature,
                                                                         bool disableSoftmax = false,
                                                                         const poplar::DebugContext& debugContext = {});

}  // namespace popnn

#endif
