#ifndef poplin_Cholesky_hpp
#define poplin_Cholesky_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplin/MatMul.hpp>

#include <cstddef>
#include <utility>
#include <vector>

// Factors of positive definite matrices {..., n, n} of FLOAT or HALF: A = L L^T with a lower triangle L, or A = U^T U with an upper one.
// The dimensions in front are groups. Only the triangle of A that the factor has is read. A matrix that is not positive definite gives
// NaNs. Options and errors as in TriangularSolve.hpp.
namespace poplin {

/// The products that a factorisation takes, for preplanMatMuls.
POPLAR_EXPORT std::vector<std::pair<MatMulParams, poplar::OptionFlags>> getCholeskyMatMulPrePlanParameters(
    const poplar::Type& type, const std::vector<std::size_t>& shape, bool lower, poplar::OptionFlags options);

/// A variable for A.
POPLAR_EXPORT poplar::Tensor createCholeskyInput(poplar::Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& shape,
                                                 bool lower, const poplar::DebugContext& debugContext,
                                                 const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// L, or U if not \p lower, with zeros in the other triangle: a new tensor, or in the place of \p a.
POPLAR_EXPORT poplar::Tensor cholesky(poplar::Graph& graph, const poplar::Tensor& a, bool lower, poplar::program::Sequence& prog,
                                      const poplar::DebugContext& debugContext = {}, poplar::OptionFlags options = {},
                                      PlanningCache* cache = nullptr);
POPLAR_EXPORT void choleskyInPlace(poplar::Graph& graph, const poplar::Tensor& a, bool lower, poplar::program::Sequence& prog,
                                   const poplar::DebugContext& debugContext = {}, poplar::OptionFlags options = {},
                                   PlanningCache* cache = nullptr);

}  // namespace poplin

#endif
