#ifndef poplin_LuFactorization_hpp
#define poplin_LuFactorization_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <utility>

namespace poplin {
namespace experimental {

/// L and U of A = L U, without exchanges of rows: \p input, {m, n}, FLOAT or HALF, is not changed. L is {m, m}, FLOAT, lower triangular
/// with ones on the diagonal; U is {m, n}, FLOAT, upper triangular. A 0 where a pivot is needed gives infinities and NaNs, small ones take
/// digits. Add the library's codelets and those of popops first. Throws poputil::poplibs_error for other types and shapes.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> LUFactorization(poplar::Graph& graph, poplar::Tensor& input,
                                                                        poplar::program::Sequence& seq,
                                                                        const poplar::DebugContext& debugContext = {});

}  // namespace experimental
}  // namespace poplin

#endif
