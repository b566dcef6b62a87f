#ifndef poputil_Broadcast_hpp
#define poputil_Broadcast_hpp

#include <poplar/Export.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace poputil {

// Shapes match as NumPy's do: aligned at the last dimension; a dimension of size 1, or one that is absent, repeats. Views only:
// nothing is copied.

/// Gives the tensor of lower rank leading dimensions of size 1, so that both have the same rank.
POPLAR_EXPORT void expandToMatchRanks(poplar::Tensor& a, poplar::Tensor& b);

/// Gives \p a the shape \p shape. Throws poplibs_error if a dimension is neither 1 nor the one of \p shape, or if the rank of \p a
/// is higher.
POPLAR_EXPORT void broadcastToMatch(poplar::Tensor& a, const std::vector<std::size_t>& shape);

/// Gives both tensors the smallest shape that both match. Throws poplibs_error if there is none.
POPLAR_EXPORT void broadcastToMatch(poplar::Tensor& a, poplar::Tensor& b);

/// The same for three tensors.
POPLAR_EXPORT void broadcastToMatch(poplar::Tensor& a, poplar::Tensor& b, poplar::Tensor& c);

/// Would broadcastToMatch(a, b) succeed?
POPLAR_EXPORT bool canBroadcastToMatch(const poplar::Tensor& a, const poplar::Tensor& b);

}  // namespace poputil

#endif
