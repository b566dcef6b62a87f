// A sequence is decoded by one vertex, on the tile that has its data.
#include <popnn/CTCInference.hpp>
#include <popnn/LogSoftmax.hpp>
#include <poputil/OptionParsing.hpp>
#include <poputil/VertexTemplates.hpp>

#include <limits>

#include "poplibs/popnn/ctc/ctc_plan.h"
#include "poplibs/poputil/reject.h"

namespace popnn::ctc_infer {

using namespace poplar;
using ctc::Plan;
using program::Sequence;

namespace {

using Results = std::tuple<Tensor, Tensor, Tensor>;

void parse(const OptionFlags& flags) {
  double memory = 0;
  Type partials = FLOAT;
  const poplibs::OptionSpec spec{{"availableMemoryProportion", poplibs::OptionHandler::createWithDouble(memory, 0.0)},
                                 {"partialsType", poplibs::OptionHandler::createWithEnum(partials, {{"float", FLOAT}, {"half", HALF}})}};
  spec.parse(flags);
}

void check(const Plan::Impl& plan, const Tensor& data, const Tensor& lengths, unsigned blank, unsigned beams, unsigned top) {
  const std::vector<std::size_t> shape = {plan.time, plan.batch, plan.classes};
  if (!data.valid() || data.shape() != shape || data.elementType() != plan.in)
    poputil::reject("ctc-shape", "popnn::ctc_infer: the data are {}; the plan says {} {{{},{},{}}}",
                    data.valid() ? data.elementType().toString() + " " + data.shapeToString() : std::string("an invalid tensor"),
                    plan.in.toString(), plan.time, plan.batch, plan.classes);
  if (!lengths.valid() || lengths.shape() != std::vector<std::size_t>{plan.batch} ||
      (lengths.elementType() != UNSIGNED_INT && lengths.elementType() != INT))
    poputil::reject("ctc-shape", "popnn::ctc_infer: dataLengths is {}; expected int or unsigned int {{{}}}",
                    lengths.valid() ? lengths.elementType().toString() + " " + lengths.shapeToString() : std::string("an invalid tensor"),
                    plan.batch);
  if (blank >= plan.classes) poputil::reject("ctc-blank", "popnn::ctc_infer: blankClass is {} of {} classes", blank, plan.classes);
  if (beams != plan.beams) poputil::reject("ctc-beams", "popnn::ctc_infer: beamwidth is {}, the plan says {}", beams, plan.beams);
  if (top == 0 || top > beams)
    poputil::reject("ctc-beams", "popnn::ctc_infer: topPaths is {}; expected 1 to the number of beams, {}", top, beams);
}

Results decode(Graph& graph, const Plan::Impl& plan, const Tensor& data, const Tensor& lengths, unsigned blank, unsigned top,
               Sequence& prog, const DebugContext& debug) {
  const Tensor logs = graph.addVariable(plan.in, {plan.batch, top}, {debug, "negativeLogs"}),
               sizes = graph.addVariable(UNSIGNED_INT, {plan.batch, top}, {debug, "lengths"}),
               labels = graph.addVariable(UNSIGNED_INT, {plan.batch, top, plan.time}, {debug, "labels"});
  // Sequences that share a tile share its workers, each with beams of its own.
  const ComputeSet cs = graph.addComputeSet({debug, "beams"});
  for (std::size_t b = 0; b < plan.batch; ++b) {
    const unsigned tile = plan.tile_of_part(b, 0);
    const VertexRef v = graph.addVertex(cs, poputil::templateVertex("popnn::CtcBeamSearch", plan.in),
                                        {{"probs", data.slice(b, b + 1, 1).flatten()},
                                         {"length", lengths[b]},
                                         {"negativeLogs", logs[b]},
                                         {"lengths", sizes[b]},
                                         {"labels", labels[b].flatten()}});
    const auto scratch = [&](const char* field, const Type& type, std::size_t n) {
      const Tensor t = graph.addVariable(type, {n}, {debug, field});
      graph.setTileMapping(t, tile);
      graph.connect(v[field], t);
    };
    scratch("rows", UNSIGNED_SHORT, 2 * plan.beams * plan.time);
    scratch("sizes", UNSIGNED_INT, 2 * plan.beams);
    scratch("sums", FLOAT, 2 * plan.beams);
    scratch("kept", FLOAT, 3 * plan.beams);
    scratch("made", UNSIGNED_INT, 2 * plan.beams);
    graph.setInitialValue(v["classes"], static_cast<unsigned>(plan.classes));
    graph.setInitialValue(v["beams"], static_cast<unsigned>(plan.beams));
    graph.setInitialValue(v["blank"], blank);
    graph.setTileMapping(v, tile);
    for (const Tensor& t : {logs[b], sizes[b], labels[b]}) graph.setTileMapping(t, tile);
  }
  prog.add(program::Execute(cs, {debug, "beams"}));
  return {logs, sizes, labels};
}

}  // namespace

Plan plan(const Graph& graph, const Type& inType, unsigned batchSize, unsigned maxTime, unsigned numClasses, unsigned beamwidth,
          const OptionFlags& options) {
  if (inType != FLOAT && inType != HALF)
    poputil::reject("ctc-type", "popnn::ctc_infer::plan: inType is {}, expected float or half", inType.toString());
  constexpr unsigned kMost = std::numeric_limits<std::uint16_t>::max();
  if (batchSize == 0 || maxTime == 0 || numClasses == 0 || beamwidth == 0 || maxTime > kMost || numClasses > kMost || beamwidth > kMost)
    poputil::reject(
        "ctc-size",
        "popnn::ctc_infer::plan: batchSize {}, maxTime {}, numClasses {}, beamwidth {}: expected at least 1 of each, and of the "
        "last three at most {}",
        batchSize, maxTime, numClasses, beamwidth, kMost);
  parse(options);
  return Plan(std::make_unique<Plan::Impl>(graph, inType, batchSize, maxTime, numClasses, beamwidth));
}

Tensor createDataInput(Graph& graph, const Type& type, const std::size_t batchSize, const std::size_t maxTime, const std::size_t numClasses,
                       const Plan& plan, const DebugContext& debugContext) {
  const Plan::Impl& p = ctc::decoder_plan(plan);
  if (batchSize != p.batch || maxTime != p.time || numClasses != p.classes || type != p.in)
    poputil::reject("ctc-shape", "popnn::ctc_infer::createDataInput: {} {{{},{},{}}}, the plan says {} {{{},{},{}}}", type.toString(),
                    maxTime, batchSize, numClasses, p.in.toString(), p.time, p.batch, p.classes);
  const Tensor t = graph.addVariable(type, {batchSize, maxTime, numClasses}, {debugContext, "data"});
  for (std::size_t b = 0; b < batchSize; ++b) graph.setTileMapping(t[b], p.tile_of_part(b, 0));
  return t.dimShuffle({1, 0, 2});
}

Results beamSearchDecoderLogProbabilities(Graph& graph, const Tensor& logProbs, const Tensor& dataLengths, Sequence& prog,
                                          unsigned blankClass, unsigned beamwidth, unsigned topPaths, const Plan& plan,
                                          const DebugContext& debugContext, const OptionFlags& options) {
  const Plan::Impl& p = ctc::decoder_plan(plan);
  check(p, logProbs, dataLengths, blankClass, beamwidth, topPaths);
  parse(options);
  return decode(graph, p, logProbs, dataLengths.reinterpret(UNSIGNED_INT), blankClass, topPaths, prog, {debugContext, "ctcBeamSearch"});
}

Results beamSearchDecoderLogits(Graph& graph, const Tensor& logits, const Tensor& dataLengths, Sequence& prog, unsigned blankClass,
                                unsigned beamwidth, unsigned topPaths, const Plan& plan, const DebugContext& debugContext,
                                const OptionFlags& options) {
  const Plan::Impl& p = ctc::decoder_plan(plan);
  check(p, logits, dataLengths, blankClass, beamwidth, topPaths);
  parse(options);
  const DebugContext debug(debugContext, "ctcBeamSearch");
  const Tensor log_probs = logSoftmax(graph, logits, prog, {debug, "logSoftmax"});
  return decode(graph, p, log_probs, dataLengths.reinterpret(UNSIGNED_INT), blankClass, topPaths, prog, debug);
}

}  // namespace popnn::ctc_infer
