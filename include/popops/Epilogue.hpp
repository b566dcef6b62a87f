#ifndef popops_Epilogue_hpp
#define popops_Epilogue_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <popops/Expr.hpp>
#include <popops/Reduce.hpp>

#include <cstddef>
#include <vector>

// Reductions with what is done with each element of their result: a scale, a root, an activation. It is computed where the last sums of an
// element are taken; the bits are those of popops::map on the result. Of Pando's own: the libraries that others know have no such
// functions. Products and convolutions have theirs in poplin/Epilogue.hpp.

namespace popops {

struct Epilogue {
  /// Expressions of the result's type over the operands, which are of that type: placeholder i + 1 is operand i.
  std::vector<expr::Any> results;
  /// Tensors of the result's shape, of one element, or that broadcast to it. Products and convolutions take of the last those that have as
  /// many elements as the result has columns (channels).
  std::vector<poplar::Tensor> operands;
  /// The operand that is the product's, convolution's or reduction's element; its tensor is not looked at.
  std::size_t product = 0;
};

/// As reduce. `outs`: one tensor for each result, written; those that are invalid are made. False, with nothing added, where no vertex
/// could do it: for other types than FLOAT and HALF, where nothing is reduced or left, and where results share elements with operands.
///
/// Errors: poputil::poplibs_error for operands and results whose shapes do not fit, for no result, for `update`, and all that reduce
/// rejects.
POPLAR_EXPORT bool reduceWithEpilogue(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Type& outType,
                                      const std::vector<std::size_t>& dims, const ReduceParams& params, const Epilogue& epilogue,
                                      std::vector<poplar::Tensor>& outs, poplar::program::Sequence& prog,
                                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

}  // namespace popops

#endif
