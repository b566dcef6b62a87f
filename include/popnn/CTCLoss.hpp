#ifndef popnn_CTCLoss_hpp
#define popnn_CTCLoss_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <popnn/CTCPlan.hpp>
#include <poputil/DebugInfo.hpp>
#include <poputil/exceptions.hpp>

#include <cstddef>
#include <utility>

namespace popnn {
namespace ctc {

/// A plan for sequences of up to \p maxTime steps, labels of up to \p maxLabelLength classes of \p numClasses, the blank one included.
/// \p inType, \p outType: FLOAT or HALF.
///
/// Options: `availableMemoryProportion` [=0.6]: how much of a tile's memory the sums along the paths may take; `planConstraints`, JSON:
/// {"parallel": {"batch": sequences side by side, "time": pieces of time, "label": parts of labels}}, where "lastBlankOnSeparateTile" is
/// taken and has no effect; nor has `partialsType` (float, half): sums are always float.
/// Throws poputil::poplibs_error for other types, sizes of 0, and if there is no plan within the memory and the constraints, and
/// poplar::invalid_option for unknown options.
POPLAR_EXPORT Plan plan(const poplar::Graph& graph, const poplar::Type& inType, const poplar::Type& outType, unsigned batchSize,
                        unsigned maxTime, unsigned maxLabelLength, unsigned numClasses, const poplar::OptionFlags& options = {});

/// A variable of shape {maxTime, batchSize, numClasses}, mapped as the plan wants it.
POPLAR_EXPORT poplar::Tensor createDataInput(poplar::Graph& graph, const poplar::Type& type, std::size_t batchSize, std::size_t maxTime,
                                             std::size_t numClasses, const Plan& plan, const poplar::DebugContext& debugContext = {});

/// A variable of shape {batchSize, maxLabelLength}, mapped as the plan wants it. \p type: UNSIGNED_INT, INT, UNSIGNED_SHORT or SHORT.
POPLAR_EXPORT poplar::Tensor createLabelsInput(poplar::Graph& graph, const poplar::Type& type, std::size_t batchSize,
                                               std::size_t maxLabelLength, const Plan& plan, const poplar::DebugContext& debugContext = {});

/// The loss of each sequence, {batchSize}: minus the logarithm of the probability of its label; and its gradient, {maxTime, batchSize,
/// numClasses}, both of type \p outType.
/// \p logProbs: {maxTime, batchSize, numClasses}, logarithms of probabilities; \p labels: {batchSize, maxLabelLength}, none of them blank;
/// \p dataLengths, \p labelLengths: {batchSize}, UNSIGNED_INT: how much of each sequence and label counts. Where no path fits the label,
/// the loss is infinite. At run time a length beyond the tensor counts as the tensor's, and a label that is no class fits no path: its loss
/// is infinite, its gradient that of no paths.
///
/// Options: `includeSoftmaxGradient` [=true]: the gradient with regard to what the logarithm of a softmax was taken of, instead of with
/// regard to \p logProbs. `returnReducedCodeletGradient` [=false], to look into it: in the place of the gradient the logarithms of the sums
/// over the paths that are in each class at each time; -65504 of classes that no path is in. `zeroInfinity` [=false]: where no path fits
/// the label, loss and gradient are 0. Throws poputil::poplibs_error for shapes and types that are not the plan's and for constants among
/// lengths and labels that no sequence can have, and poplar::invalid_option for unknown options.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> calcLossAndGradientLogProbabilities(
    poplar::Graph& graph, const poplar::Type& outType, const poplar::Tensor& logProbs, const poplar::Tensor& labels,
    const poplar::Tensor& dataLengths, const poplar::Tensor& labelLengths, poplar::program::Sequence& prog, unsigned blankClass,
    const Plan& plan, const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// The same of the logarithm of the softmax of \p logits along the classes.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> calcLossAndGradientLogits(
    poplar::Graph& graph, const poplar::Type& outType, const poplar::Tensor& logits, const poplar::Tensor& labels,
    const poplar::Tensor& dataLengths, const poplar::Tensor& labelLengths, poplar::program::Sequence& prog, unsigned blankClass,
    const Plan& plan, const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// The loss alone: nothing of the gradient is computed. Of the options `zeroInfinity` has an effect, the others are taken.
POPLAR_EXPORT poplar::Tensor calcCTCLossLogProbabilities(poplar::Graph& graph, const poplar::Type& outType, const poplar::Tensor& logProbs,
                                                         const poplar::Tensor& labels, const poplar::Tensor& dataLengths,
                                                         const poplar::Tensor& labelLengths, poplar::program::Sequence& prog,
                                                         unsigned blankClass, const Plan& plan,
                                                         const poplar::DebugContext& debugContext = {},
                                                         const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor calcCTCLossLogits(poplar::Graph& graph, const poplar::Type& outType, const poplar::Tensor& logits,
                                               const poplar::Tensor& labels, const poplar::Tensor& dataLengths,
                                               const poplar::Tensor& labelLengths, poplar::program::Sequence& prog, unsigned blankClass,
                                               const Plan& plan, const poplar::DebugContext& debugContext = {},
                                               const poplar::OptionFlags& options = {});

}  // namespace ctc
}  // namespace popnn

#endif
