#ifndef poplin_MatMul_hpp
#define poplin_MatMul_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/PlanningCache.hpp>

#include <cstddef>
#include <iosfwd>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace poplin {

namespace matmul {
class PlanningCache;
}

// Products of matrices of FLOAT or HALF. Shapes: A {m, k}, B {k, n}, C {m, n}; grouped A {g, m, k}, B {g, k, n}, C {g, m, n}. Operands
// may be any views with any mapping; those that createMatMul... functions made are multiplied without being moved first.
// Add the library's codelets first (poplin::addCodelets).
//
// Errors: poputil::poplibs_error if shapes do not fit, or for types other than FLOAT and HALF; poplar::invalid_option for unknown
// options and malformed values.
//
// Options (the same for all functions that work on one product, so that their plans agree):
//   availableMemoryProportion  0 to 1, default 0.6: of a tile's memory, for the blocks of one step
//   partialsType               float (default) or half: of partial sums
//   pando.planObjective        cycles (default): the plan that takes the machine least time; hostTime: this host
//   pando.layout               grid (default): each product as its plan has it; blocks: products lie in blocks whose size follows from the
//                              matrix alone, so that what one writes others read where it lies, transposed or not; those of few blocks and
//                              long sums keep the grid
//   pando.rowsApart            true (default): on the CPU target, operands whose rows lie apart from each other are read where they are;
//                              false: they are copied first
//   pando.turnsOperands        true (default): on the CPU target, the rows of a large left operand whose columns follow each other in
//                              memory are brought together once; false: by each part of the product.
//   planConstraints            JSON; checked, and without effect
//   fullyConnectedPass, inputRHSIsPreArranged, use128BitConvUnitLoad, enableMultiStageReduce, enableFastReduce, remapOutputTensor,
//   gatherConvOutput ...       checked, and without effect: results do not depend on them

/// A * B, as a new tensor of type \p outputType (of A's type in the second form), spread over the tiles as the plan has it.
POPLAR_EXPORT poplar::Tensor matMul(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, poplar::program::Sequence& prog,
                                    const poplar::Type& outputType, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor matMul(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                    PlanningCache* cache = nullptr);
/// out = A * B. Throws poplibs_error if \p out is not parallel writeable.
POPLAR_EXPORT void matMulWithOutput(poplar::Graph& graph, const poplar::Tensor& A_, const poplar::Tensor& B_, poplar::Tensor& out,
                                    poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& options_ = {}, PlanningCache* cache = nullptr);
/// Writes how a product of these shapes is cut over the tiles, and what that is estimated to cost.
POPLAR_EXPORT void matMulReportPlan(std::ostream& out, const poplar::Graph& graph, const poplar::Type& inputType,
                                    const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                    const std::vector<std::size_t>& bShape, const poplar::OptionFlags& options = {},
                                    PlanningCache* cache = nullptr);

/// A[i] * B[i] for every group i.
POPLAR_EXPORT poplar::Tensor matMulGrouped(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B,
                                           poplar::program::Sequence& prog, const poplar::Type& outputType,
                                           const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                           PlanningCache* cache = nullptr);
POPLAR_EXPORT void matMulGroupedWithOutput(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, poplar::Tensor& out,
                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                           const poplar::OptionFlags& options_ = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT void matMulGroupedReportPlan(std::ostream& out, const poplar::Graph& graph, const poplar::Type& inputType,
                                           const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                           const std::vector<std::size_t>& bShape, const poplar::OptionFlags& options = {},
                                           PlanningCache* cache = nullptr);

/// C += k * (A * B), in place. \p k is a number, or a tensor of one FLOAT or HALF element. Throws poplibs_error if C is not
/// parallel writeable.
POPLAR_EXPORT void matMulAcc(poplar::Graph& graph, const poplar::Tensor& C, float k, const poplar::Tensor& A, const poplar::Tensor& B,
                             poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                             const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT void matMulAcc(poplar::Graph& graph, const poplar::Tensor& C, const poplar::Tensor& k, const poplar::Tensor& A,
                             const poplar::Tensor& B, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                             const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
/// The same for groups; one k for all of them.
POPLAR_EXPORT void matMulGroupedAcc(poplar::Graph& graph, const poplar::Tensor& C, float k, const poplar::Tensor& A,
                                    const poplar::Tensor& B, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT void matMulGroupedAcc(poplar::Graph& graph, const poplar::Tensor& C, const poplar::Tensor& k, const poplar::Tensor& A,
                                    const poplar::Tensor& B, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// A variable of shape \p aShape, mapped so that it is multiplied where it lies. Forms with one type: input and output are of it.
POPLAR_EXPORT poplar::Tensor createMatMulInputLHS(poplar::Graph& graph, const poplar::Type& inputType, const poplar::Type& outputType,
                                                  const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape,
                                                  const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {},
                                                  PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createMatMulInputLHS(poplar::Graph& graph, const poplar::Type& dataType,
                                                  const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape,
                                                  const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {},
                                                  PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createMatMulGroupedInputLHS(poplar::Graph& graph, const poplar::Type& inputType,
                                                         const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                                         const std::vector<std::size_t>& bShape, const poplar::DebugContext& debugContext,
                                                         const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
/// The same for the right-hand operand, of shape \p bShape.
POPLAR_EXPORT poplar::Tensor createMatMulInputRHS(poplar::Graph& graph, const poplar::Type& inputType, const poplar::Type& outputType,
                                                  const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape,
                                                  const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {},
                                                  PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createMatMulInputRHS(poplar::Graph& graph, const poplar::Type& dataType,
                                                  const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape,
                                                  const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {},
                                                  PlanningCache* cache = nullptr);
/// A variable for the result.
POPLAR_EXPORT poplar::Tensor createMatMulOutput(poplar::Graph& graph, const poplar::Type& inputType, const poplar::Type& outputType,
                                                const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape,
                                                const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {},
                                                PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createMatMulOutput(poplar::Graph& graph, const poplar::Type& dataType, const std::vector<std::size_t>& aShape,
                                                const std::vector<std::size_t>& bShape, const poplar::DebugContext& debugContext,
                                                const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createMatMulGroupedInputRHS(poplar::Graph& graph, const poplar::Type& inputType,
                                                         const poplar::Type& outputType, const std::vector<std::size_t>& aShape,
                                                         const std::vector<std::size_t>& bShape, const poplar::DebugContext& debugContext,
                                                         const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createMatMulGroupedOutput(poplar::Graph& graph, const poplar::Type& inputType, const poplar::Type& outputType,
                                                       const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape,
                                                       const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {},
                                                       PlanningCache* cache = nullptr);

/// B copied once into the order that products with it want, as a tensor of B's shape: for an operand that is multiplied often.
POPLAR_EXPORT poplar::Tensor preArrangeMatMulInputRHS(poplar::Graph& graph, const std::vector<std::size_t>& aShape, const poplar::Tensor& B,
                                                      poplar::program::Sequence& prog, const poplar::Type& outputType,
                                                      const poplar::DebugContext& debugContext = {},
                                                      const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor preArrangeMatMulInputRHS(poplar::Graph& graph, const std::vector<std::size_t>& aShape, const poplar::Tensor& B,
                                                      poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                                      const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor preArrangeMatMulGroupedInputRHS(poplar::Graph& graph, const std::vector<std::size_t>& aShape,
                                                             const poplar::Tensor& B, poplar::program::Sequence& prog,
                                                             const poplar::Type& outputType, const poplar::DebugContext& debugContext = {},
                                                             const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// The view {g, n, m} of a tensor {g, m, n}. Throws poplibs_error for another rank.
POPLAR_EXPORT poplar::Tensor transposeGroupedMatrix(const poplar::Tensor& A);

/// What a plan depends on beside target and options. Shapes of rank 2, or of rank 3 with groups.
struct POPLAR_EXPORT MatMulParams {
  poplar::Type inputType;
  poplar::Type outputType;
  std::vector<std::size_t> aShape;
  std::vector<std::size_t> bShape;

  friend POPLAR_EXPORT bool operator<(const MatMulParams& a, const MatMulParams& b);
};

using MatMulPlanParams = std::tuple<const poplar::Target*, const MatMulParams, const poplar::OptionFlags*>;

/// Options of products, and of the convolutions that they are planned as.
using MatMulToConvOptions = std::unordered_map<const poplar::OptionFlags*, poplar::OptionFlags>;

/// The convolutions that these products are planned as: none, since products have a planner of their own (preplanMatMuls). Throws
/// what preplanMatMuls throws for options.
POPLAR_EXPORT std::set<ConvPlanParams> matMulGetConvPlanParams(const std::set<MatMulPlanParams>& matmuls,
                                                               MatMulToConvOptions& matmulToConvOpts);

/// Makes the plans of several products, and keeps them in the cache.
POPLAR_EXPORT void preplanMatMuls(const std::set<MatMulPlanParams>& matmuls, matmul::PlanningCache& cache);

/// Throws poplar::invalid_option if matMul would.
POPLAR_EXPORT void matmulValidateOptions(const poplar::OptionFlags& options);

namespace matmul {

/// The cache of plans of products; one cache may serve products and convolutions.
class POPLAR_EXPORT PlanningCache : public poplin::PlanningCache {
 public:
  poplin::PlanningCache& getImpl();
};

}  // namespace matmul

}  // namespace poplin

#endif
