#ifndef poplin_Epilogue_hpp
#define poplin_Epilogue_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplin/ConvParams.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <popops/Epilogue.hpp>

#include <vector>

// Products and convolutions with what is done with each element of their result: bias, activation, residual. It is computed part by part,
// as soon as the sums of a part are complete; the bits are those of popops::map on the result. Of Pando's own: the libraries that others
// know have no such functions.
//
// The functions give false, and add nothing, where there is no vertex that could do it: for types other than FLOAT, and HALF in blocks; for
// results that share elements with operands; for other broadcast operands than the ones named below. On the CPU device, too, for operands
// or results whose rows do not lie evenly, and for sums in parts; on tiles where a plan in other than blocks (option `pando.layout`) has
// its result in one part, where a plan cuts a convolution's input channels and partial sums are halfs or rows are added to several groups,
// and for results with padding.
//
// Errors: poputil::poplibs_error for operands and results whose shapes do not fit, for no result, and all that the functions without an
// epilogue reject.

namespace poplin {

using Epilogue = popops::Epilogue;

/// As matMul. `outs`: one tensor for each result, written; those that are invalid are made.
POPLAR_EXPORT bool matMulWithEpilogue(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B, const Epilogue& epilogue,
                                      std::vector<poplar::Tensor>& outs, poplar::program::Sequence& prog,
                                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                      PlanningCache* cache = nullptr);

/// As matMulGrouped.
POPLAR_EXPORT bool matMulGroupedWithEpilogue(poplar::Graph& graph, const poplar::Tensor& A, const poplar::Tensor& B,
                                             const Epilogue& epilogue, std::vector<poplar::Tensor>& outs, poplar::program::Sequence& prog,
                                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                             PlanningCache* cache = nullptr);

/// As convolution, whose weights are not transposed.
POPLAR_EXPORT bool convolutionWithEpilogue(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& weights,
                                           const ConvParams& params, const Epilogue& epilogue, std::vector<poplar::Tensor>& outs,
                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

}  // namespace poplin

#endif
