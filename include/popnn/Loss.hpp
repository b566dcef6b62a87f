#ifndef popnn_Loss_hpp
#define popnn_Loss_hpp

namespace popnn {
// With a type, so that a number without a name is a value that can be rejected.
enum LossType : int { SUM_SQUARED_LOSS, CROSS_ENTROPY_LOSS };
}  // namespace popnn

#ifndef __POPC__

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include "popops/EncodingConstants.hpp"

#include <utility>

namespace popnn {

/// Losses of a batch, with their gradients.
///
/// `modelOutputs` {batch, classes} FLOAT or HALF: for CROSS_ENTROPY_LOSS probabilities p (what softmax gave).
/// `expected`: labels {batch} UNSIGNED_INT or INT; a row whose label is MASKED_LABEL_CODE has loss 0 and deltas 0 and is never
///   counted as correct; a label that is no class stands for no class at all. Or a value for each output, {batch, classes},
///   of the outputs' type.
/// `loss` {batch}: receives -log p[label], or half the sum of squared differences. `deltas` {batch, classes} receives p - expected:
///   of cross entropy the gradient with respect to softmax's operand. Both have the outputs' type.
/// `modelOutputScaling` s and `deltasScale` d, single elements of the outputs' type: the outputs are s times what they should be
///   (the number that popnn::nonLinearity returns for SOFTMAX_SCALED); losses are those of outputs / s, and deltas d times theirs.
/// `numCorrect`, one UNSIGNED_INT element: the number of rows whose greatest output is the expected one is added to it (so that a
///   program counts over many batches); the first of equal outputs counts.
/// Each returns the program that does it. They throw poputil::poplibs_error for other shapes and types.
POPLAR_EXPORT poplar::program::Program calcLoss(poplar::Graph& graph, const poplar::Tensor& modelOutputs, const poplar::Tensor& expected,
                                                const poplar::Tensor& loss, const poplar::Tensor& deltas, const poplar::Tensor& deltasScale,
                                                const poplar::Tensor& modelOutputScaling, LossType lossType,
                                                const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::program::Program calcLoss(poplar::Graph& graph, const poplar::Tensor& modelOutputs, const poplar::Tensor& expected,
                                                const poplar::Tensor& loss, const poplar::Tensor& deltas, LossType lossType,
                                                const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::program::Program calcLoss(poplar::Graph& graph, const poplar::Tensor& modelOutputs, const poplar::Tensor& expected,
                                                const poplar::Tensor& loss, const poplar::Tensor& deltas, const poplar::Tensor& deltasScale,
                                                const poplar::Tensor& modelOutputScaling, const poplar::Tensor& numCorrect,
                                                LossType lossType, const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::program::Program calcLoss(poplar::Graph& graph, const poplar::Tensor& modelOutputs, const poplar::Tensor& expected,
                                                const poplar::Tensor& loss, const poplar::Tensor& deltas, const poplar::Tensor& numCorrect,
                                                LossType lossType, const poplar::DebugContext& debugContext = {});

/// numCorrect alone.
POPLAR_EXPORT poplar::program::Program calcAccuracy(poplar::Graph& graph, const poplar::Tensor& modelOutputs,
                                                    const poplar::Tensor& expected, const poplar::Tensor& numCorrect,
                                                    const poplar::DebugContext& debugContext = {});

/// Extremes of each row of \p input {rows, columns}, FLOAT, HALF, INT or UNSIGNED_INT, with at least one column. Indices are
/// UNSIGNED_INT {rows}, the first of equal elements; values have the type of the input. NaN counts as less than all
/// (argMax, maxAndArgMax, topK) or greater than all numbers. Throw poputil::poplibs_error for other shapes and types.
POPLAR_EXPORT poplar::Tensor argMax(poplar::Graph& graph, const poplar::Tensor& input, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> maxAndArgMax(poplar::Graph& graph, const poplar::Tensor& input,
                                                                     poplar::program::Sequence& prog,
                                                                     const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor argMin(poplar::Graph& graph, const poplar::Tensor& input, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> minAndArgMin(poplar::Graph& graph, const poplar::Tensor& input,
                                                                     poplar::program::Sequence& prog,
                                                                     const poplar::DebugContext& debugContext = {});

/// The \p K greatest elements of each row, {rows, 1, K}, as programs expect them; \p indices becomes a new tensor of their columns. With
/// \p sort they come in descending order, the first of equal ones first; without, in an order that is not specified. Throws if K is
/// more than the columns.
POPLAR_EXPORT poplar::Tensor topK(poplar::Graph& graph, const poplar::Tensor& input, poplar::Tensor& indices, unsigned K, bool sort,
                                  poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

}  // namespace popnn

#endif  // __POPC__

#endif
