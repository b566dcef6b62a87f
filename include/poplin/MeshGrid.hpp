#ifndef poplin_MeshGrid_hpp
#define poplin_MeshGrid_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <vector>

namespace poplin {

/// Constants of shape {count}, FLOAT or HALF: \p count numbers at equal distances from \p left to \p right, both included (\p left
/// alone if count is 1), spread over the tiles. Throws poputil::poplibs_error for other types.
POPLAR_EXPORT poplar::Tensor linspace(poplar::Graph& graph, const poplar::Type& type, float left, float right, size_t count,
                                      const poplar::DebugContext& debugContext = {});

/// The coordinates of a grid: two views of shape {y's size, x's size}; [j][i] is x[i] in the first and y[j] in the second. Throws
/// poputil::poplibs_error if x or y has another rank than 1.
POPLAR_EXPORT std::vector<poplar::Tensor> meshgrid2d(poplar::Graph& graph, poplar::Tensor x, poplar::Tensor y);

}  // namespace poplin

#endif
