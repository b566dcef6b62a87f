#ifndef popnn_CTCInference_hpp
#define popnn_CTCInference_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <popnn/CTCPlan.hpp>

#include <cstddef>
#include <tuple>

namespace popnn {

/// Decoding of sequences that were learned with connectionist temporal classification (CTCLoss.hpp): a beam search.
namespace ctc_infer {

/// A plan for sequences of up to \p maxTime steps of \p numClasses, the blank one included, that are decoded with \p beamwidth beams.
/// \p inType: FLOAT or HALF. A sequence is decoded on one tile.
///
/// Options: `partialsType` (float, half) and `availableMemoryProportion` are taken and have no effect: sums are float.
/// Throws poputil::poplibs_error for other types, sizes of 0 and more than 65,535 classes or steps, and poplar::invalid_option for unknown
/// options.
POPLAR_EXPORT ctc::Plan plan(const poplar::Graph& graph, const poplar::Type& inType, unsigned batchSize, unsigned maxTime,
                             unsigned numClasses, unsigned beamwidth, const poplar::OptionFlags& options = {});

/// A variable of shape {maxTime, batchSize, numClasses}, mapped as the plan wants it.
POPLAR_EXPORT poplar::Tensor createDataInput(poplar::Graph& graph, const poplar::Type& type, const std::size_t batchSize,
                                             const std::size_t maxTime, const std::size_t numClasses, const ctc::Plan& plan,
                                             const poplar::DebugContext& debugContext = {});

/// The \p topPaths likeliest labels that \p beamwidth beams find, the likeliest first: minus the logarithm of the probability, {batch,
/// topPaths}, of the type of \p logProbs; the length, {batch, topPaths}, and the label, {batch, topPaths, maxTime}, both UNSIGNED_INT, the
/// label with zeros behind its end. Of fewer labels than asked for others are empty, with an infinite number.
///
/// A beam is a label, and its probability a sum over the paths in the beams that spell it. At each step every beam goes on with every
/// class; the likeliest stay. \p logProbs: {maxTime, batch, numClasses}, logarithms of probabilities; \p dataLengths: {batch},
/// UNSIGNED_INT or INT, how much of each sequence counts; a length beyond the tensor, or below 0, counts as the tensor's. Throws
/// poputil::poplibs_error for shapes, types and widths that are not the plan's and for topPaths of 0 or more than \p beamwidth, and
/// poplar::invalid_option for any option but the plan's.
POPLAR_EXPORT std::tuple<poplar::Tensor, poplar::Tensor, poplar::Tensor> beamSearchDecoderLogProbabilities(
    poplar::Graph& graph, const poplar::Tensor& logProbs, const poplar::Tensor& dataLengths, poplar::program::Sequence& prog,
    unsigned blankClass, unsigned beamwidth, unsigned topPaths, const ctc::Plan& plan, const poplar::DebugContext& debugContext = {},
    const poplar::OptionFlags& options = {});

/// The same of the logarithm of the softmax of \p logits along the classes.
POPLAR_EXPORT std::tuple<poplar::Tensor, poplar::Tensor, poplar::Tensor> beamSearchDecoderLogits(
    poplar::Graph& graph, const poplar::Tensor& logits, const poplar::Tensor& dataLengths, poplar::program::Sequence& prog,
    unsigned blankClass, unsigned beamwidth, unsigned topPaths, const ctc::Plan& plan, const poplar::DebugContext& debugContext = {},
    const poplar::OptionFlags& options = {});

}  // namespace ctc_infer
}  // namespace popnn

#endif
