#ifndef poplin_QRFactorization_hpp
#define poplin_QRFactorization_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <array>
#include <cstddef>

namespace poplin {
namespace experimental {

/// Variables for A, {m, n}, and Q, {m, m}. Throws poputil::poplibs_error for types other than FLOAT and HALF and for m < n.
POPLAR_EXPORT std::array<poplar::Tensor, 2> createQRFactorizationMatrices(poplar::Graph& graph, const poplar::Type& type,
                                                                          const std::size_t m, const std::size_t n,
                                                                          const poplar::DebugContext& debugContext);

/// Makes R of \p A, {m, n} with m >= n, in its place: upper triangular, zeros below. \p Q, {m, m}, becomes Q times the orthogonal matrix of
/// A = Q R: that matrix itself if it was the identity. Both are FLOAT or HALF; signs of the diagonal of R are Householder's, opposite to
/// those of what was there.
///
/// Option: `rowsPerIteration` [=32], the columns that are reflected at a time, on one tile; fewer where they need more than a quarter of
/// its memory. Add the library's codelets and those of popops first. Throws poputil::poplibs_error for types and shapes that do not fit,
/// and poplar::invalid_option for unknown options and for 0.
POPLAR_EXPORT void QRFactorization(poplar::Graph& graph, poplar::Tensor& A, poplar::Tensor& Q, poplar::program::Sequence& prog,
                                   const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

}  // namespace experimental
}  // namespace poplin

#endif
