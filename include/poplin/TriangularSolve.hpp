#ifndef poplin_TriangularSolve_hpp
#define poplin_TriangularSolve_hpp

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

// Linear equations with triangular matrices of FLOAT or HALF: A {..., n, n} with B {..., n, m}, or on the right with B {..., m, n}; the
// dimensions in front are groups, the same in both. Only the triangle that is named is read, with unitDiagonal without its diagonal.
//
// Options: `blockSize` [=64], rows that are solved at a time, before the rows behind them are updated by a product; and those of products
// (MatMul.hpp). Forms with a \p blockSize have it as that option. Add the library's codelets and those of popops first. All throw
// poputil::poplibs_error for shapes and types that do not fit, and poplar::invalid_option for unknown options and a blockSize of 0.
namespace poplin {

/// A variable for A; \p leftSide: AX = B is to be solved, otherwise XA = B.
POPLAR_EXPORT poplar::Tensor createTriangularSolveInputLHS(poplar::Graph& graph, const poplar::Type& inputType,
                                                           const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                                           const std::vector<std::size_t>& bShape, bool leftSide,
                                                           const poplar::DebugContext& debugContext,
                                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createTriangularSolveInputLHS(poplar::Graph& graph, const poplar::Type& inputType,
                                                           const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                                           const std::vector<std::size_t>& bShape, bool leftSide, std::size_t blockSize,
                                                           const poplar::DebugContext& debugContext,
                                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
/// A variable for B.
POPLAR_EXPORT poplar::Tensor createTriangularSolveInputRHS(poplar::Graph& graph, const poplar::Type& inputType,
                                                           const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                                           const std::vector<std::size_t>& bShape, bool leftSide,
                                                           const poplar::DebugContext& debugContext,
                                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createTriangularSolveInputRHS(poplar::Graph& graph, const poplar::Type& inputType,
                                                           const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                                           const std::vector<std::size_t>& bShape, bool leftSide, std::size_t blockSize,
                                                           const poplar::DebugContext& debugContext,
                                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// \p a with zeros in the other triangle, and with ones on the diagonal if \p unitDiagonal: a new tensor.
POPLAR_EXPORT poplar::Tensor triangularMask(poplar::Graph& graph, const poplar::Tensor& a, bool lower, bool unitDiagonal,
                                            poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// X of AX = B, or of XA = B if not \p leftSide: a new tensor of B's shape. A 0 on the diagonal gives infinities and NaNs.
POPLAR_EXPORT poplar::Tensor triangularSolve(poplar::Graph& graph, const poplar::Tensor& a, const poplar::Tensor& b, bool leftSide,
                                             bool lower, bool unitDiagonal, poplar::program::Sequence& prog,
                                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                             PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor triangularSolve(poplar::Graph& graph, const poplar::Tensor& a, const poplar::Tensor& b, bool leftSide,
                                             bool lower, bool unitDiagonal, std::size_t blockSize, poplar::program::Sequence& prog,
                                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                             PlanningCache* cache = nullptr);

/// The products that a solution takes, for preplanMatMuls.
POPLAR_EXPORT std::vector<std::pair<MatMulParams, poplar::OptionFlags>> getTriangularSolveMatMulPrePlanParameters(
    const poplar::Type& inputType, const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
    const std::vector<std::size_t>& bShape, bool leftSide, bool lower, const poplar::OptionFlags& options);
POPLAR_EXPORT std::vector<std::pair<MatMulParams, poplar::OptionFlags>> getTriangularSolveMatMulPrePlanParameters(
    const poplar::Type& inputType, const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
    const std::vector<std::size_t>& bShape, bool leftSide, bool lower, std::size_t blockSize, const poplar::OptionFlags& options);

}  // namespace poplin

#endif
