#ifndef popops_NormaliseImage_hpp
#define popops_NormaliseImage_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <cstddef>

namespace popops {

/// An image tensor for normaliseImage, spread over the tiles pixel by pixel. \p type: UNSIGNED_CHAR, HALF or FLOAT; the last of the
/// dimensions \p shape has 3 channels. Throws poputil::poplibs_error otherwise.
POPLAR_EXPORT poplar::Tensor createNormaliseImageInput(poplar::Graph& graph, const poplar::Type& type,
                                                       const poplar::ArrayRef<std::size_t> shape,
                                                       const poplar::DebugContext& debugContext = {});

/// (tIn[..., c] * inScale - offsets[c]) * scales[c] for the three channels c, and a fourth that is 0: convolutions work on groups of
/// four. \p tIn: see createNormaliseImageInput. \p offsets, \p scales: {3}, of one type: HALF or FLOAT for UNSIGNED_CHAR images, else
/// the type of the image. Returns the shape of \p tIn with 4 as last dimension, of the type of \p offsets. Throws
/// poputil::poplibs_error for other shapes and types.
POPLAR_EXPORT poplar::Tensor normaliseImage(poplar::Graph& graph, poplar::program::Sequence& seq, poplar::Tensor tIn, float inScale,
                                            poplar::Tensor offsets, poplar::Tensor scales, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
