// The loss of a sequence is a sum over all paths that spell its label. A path goes through states: the label's classes in order with a
// blank before, between and after them; at each step it stays, goes to the next state, or over a blank between two classes that differ.
// Sums from the beginning up to each time and state ("forward"), and from the end ("backward"), are taken in logarithms, both in the same
// loop over time, one row of states in each round. The probability that the paths are in a state at a time is what the gradient needs.
#include <popnn/CTCLoss.hpp>
#include <popnn/LogSoftmax.hpp>
#include <popops/Cast.hpp>
#include <popops/Fill.hpp>
#include <popops/Loop.hpp>
#include <poputil/OptionParsing.hpp>
#include <poputil/VertexTemplates.hpp>

#include <optional>

#include "poplibs/popnn/codelets/ctc/log_sum.h"
#include "poplibs/popnn/ctc/ctc_plan.h"
#include "poplibs/poputil/reject.h"

namespace popnn::ctc {

using namespace poplar;
using poputil::templateVertex;
using program::Copy;
using program::Execute;
using program::Sequence;

namespace {

constexpr std::size_t kReach = 2;  // states that a path goes on in a step

void check(const Tensor& t, const std::vector<std::size_t>& shape, const char* name) {
  if (t.shape() == shape) return;
  std::string text;
  for (const std::size_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d);
  poputil::reject("ctc-shape", "popnn::ctc: {} has shape {}, the plan says {{{}}}", name, t.shapeToString(), text);
}

struct Options {
  GradientForm form = GradientForm::of_softmax;
  bool zero_infinity = false;  // of a sequence that no path fits: loss and gradient 0
};

Options parsed(const OptionFlags& options) {
  bool of_softmax = true, sums_alone = false;
  Options out;
  double tolerance = 0;  // for those who keep infinity as a number
  const poplibs::OptionSpec spec{{"includeSoftmaxGradient", poplibs::OptionHandler::createWithBool(of_softmax)},
                                 {"returnReducedCodeletGradient", poplibs::OptionHandler::createWithBool(sums_alone)},
                                 {"zeroInfinity", poplibs::OptionHandler::createWithBool(out.zero_infinity)},
                                 {"zeroInfinityRelTolerance", poplibs::OptionHandler::createWithDouble(tolerance)}};
  for (const auto& entry : options) spec.parse(entry.first, entry.second);
  out.form = sums_alone ? GradientForm::sums : of_softmax ? GradientForm::of_softmax : GradientForm::of_probabilities;
  return out;
}

// What is known when the graph is built is rejected then; the rest is clamped where it is read.
std::optional<long long> known(const Tensor& t) {
  long long value = 0;
  return t.getConstantValue(&value) ? std::optional(value) : std::nullopt;
}

void check_length(const Tensor& t, std::size_t most, const char* name, std::size_t sequence) {
  const std::optional<long long> n = known(t);
  if (n && (*n < 0 || static_cast<std::size_t>(*n) > most))
    poputil::reject("ctc-length", "popnn::ctc: {} of sequence {} is {}, the plan has up to {}", name, sequence, *n, most);
}

void check_constants(const Tensor& labels, const Tensor& data_lengths, const Tensor& label_lengths, unsigned blank,
                     const Plan::Impl& plan) {
  for (std::size_t b = 0; b < plan.batch; ++b) {
    check_length(data_lengths[b], plan.time, "dataLengths", b);
    check_length(label_lengths[b], plan.labels, "labelLengths", b);
    const std::size_t counts = static_cast<std::size_t>(known(label_lengths[b]).value_or(0));
    for (std::size_t i = 0; i < counts; ++i)
      if (const auto label = known(labels[b][i]);
          label && (*label < 0 || *label >= static_cast<long long>(plan.classes) || *label == blank))
        poputil::reject("ctc-label", "popnn::ctc: label {} of sequence {} is class {}, expected one of {} and not the blank one, {}", i, b,
                        *label, plan.classes, blank);
  }
}

Tensor as_unsigned(Graph& graph, const Tensor& t, Sequence& prog, const char* name, const DebugContext& debug) {
  if (t.elementType() == UNSIGNED_INT || t.elementType() == INT) return t.reinterpret(UNSIGNED_INT);
  if (t.elementType() != UNSIGNED_SHORT && t.elementType() != SHORT)
    poputil::reject("ctc-type", "popnn::ctc: {} have type {}, expected an integer of 16 or 32 bits", name, t.elementType().toString());
  return popops::cast(graph, t.reinterpret(UNSIGNED_SHORT), UNSIGNED_INT, prog, debug);
}

// What the states' tiles hold, and the programs on them.
class Paths {
 public:
  Paths(Graph& graph, const Plan::Impl& plan, const Tensor& log_probs, const Tensor& labels, const Tensor& lengths, unsigned blank,
        bool loss_alone, const Options& options, const DebugContext& debug)
      : graph_(graph),
        plan_(plan),
        log_probs_(log_probs),
        about_(concat(labels, lengths, 1)),
        blank_(blank),
        loss_alone_(loss_alone),
        options_(options),
        debug_(debug) {
    for (std::size_t p = 0; p < plan_.parts(); ++p) {
      probs_.push_back(rows(plan_.part(p).size(), p, "probabilities"));
      forward_.push_back(rows(plan_.part(p).size(), p, "forward"));
      if (!loss_alone_) backward_.push_back(rows(plan_.part(p).size(), p, "backward"));
    }
    here_ = by_part(UNSIGNED_INT, plan_.labels + 2, "sequences");
    for (Tensor* t : {&before_, &after_, &leaves_forward_, &leaves_backward_}) *t = by_part(FLOAT, kReach, "neighbours");
  }

  // From the data's tiles: of each state the probability of its class.
  void gather(Sequence& prog) {
    const ComputeSet cs = graph_.addComputeSet({debug_, "Gather"});
    for (std::size_t b = 0; b < plan_.batch; ++b)
      for (std::size_t q = 0; q < plan_.pieces(); ++q) {
        const VertexRef v = graph_.addVertex(cs, templateVertex("popnn::CtcGather", log_probs_.elementType()));
        graph_.connect(v["in"], data(log_probs_, b, q));
        graph_.connect(v["sequence"], about_[b]);
        connect_parts(v["out"], probs_, b, q);
        graph_.setInitialValue(v["classes"], static_cast<unsigned>(plan_.classes));
        graph_.setInitialValue(v["blank"], blank_);
        graph_.setTileMapping(v, plan_.tile_of_piece(b, q));
      }
    prog.add(Copy(about_.expand({1}).broadcast(static_cast<unsigned>(plan_.parts()), 1), here_, false, {debug_, "sequences"}));
    prog.add(Execute(cs, {debug_, "Gather"}));
  }

  // All sums: in a round those of one time forward and, for the gradient, one backward.
  void sum(Sequence& prog) {
    for (const Tensor& t : {before_, after_}) popops::fill(graph_, t, prog, kNever, {debug_, "neighbours"});
    prog.add(popops::countedLoop(
        graph_, plan_.time,
        [&](const Tensor& step) -> program::Program {
          const ComputeSet cs = graph_.addComputeSet({debug_, "Step"});
          for (std::size_t b = 0; b < plan_.batch; ++b)
            for (std::size_t p = 0; p < plan_.parts(); ++p) {
              add_step(cs, "popnn::CtcStep<false>", b, p, forward_[p][b], before_, leaves_forward_, step);
              if (!loss_alone_) add_step(cs, "popnn::CtcStep<true>", b, p, backward_[p][b], after_, leaves_backward_, step);
            }
          Sequence round{Execute(cs, {debug_, "Step"})};
          if (const std::size_t n = plan_.parts(); n > 1 && loss_alone_)
            round.add(Copy(leaves_forward_.slice(0, n - 1, 1), before_.slice(1, n, 1), false, {debug_, "neighbours"}));
          else if (n > 1)
            round.add(Copy(concat(leaves_forward_.slice(0, n - 1, 1), leaves_backward_.slice(1, n, 1), 1),
                           concat(before_.slice(1, n, 1), after_.slice(0, n - 1, 1), 1), false, {debug_, "neighbours"}));
          return round;
        },
        {debug_, "steps"}));
  }

  // {loss, the logarithm of the label's probability}
  std::pair<Tensor, Tensor> loss(Sequence& prog) {
    const Tensor ends = by_part(FLOAT, 1, "ends");
    const ComputeSet last = graph_.addComputeSet({debug_, "Ends"}), merge = graph_.addComputeSet({debug_, "Loss"});
    const Tensor losses = graph_.addVariable(plan_.out, {plan_.batch}, {debug_, "loss"}),
                 totals = graph_.addVariable(FLOAT, {plan_.batch}, {debug_, "logProbability"});
    for (std::size_t b = 0; b < plan_.batch; ++b) {
      for (std::size_t p = 0; p < plan_.parts(); ++p) {
        const VertexRef v = graph_.addVertex(last, "popnn::CtcEnd",
                                             {{"sums", forward_[p][b].flatten()}, {"sequence", here_[b][p]}, {"out", ends[b][p][0]}});
        graph_.setInitialValue(v["first"], static_cast<unsigned>(plan_.part(p).begin()));
        graph_.setInitialValue(v["width"], static_cast<unsigned>(plan_.part(p).size()));
        graph_.setTileMapping(v, plan_.tile_of_part(b, p));
      }
      const unsigned tile = plan_.tile_of_part(b, 0);
      graph_.setTileMapping(losses[b], tile);
      graph_.setTileMapping(totals[b], tile);
      const VertexRef v = graph_.addVertex(merge, templateVertex("popnn::CtcLoss", plan_.out),
                                           {{"ends", ends[b].flatten()}, {"loss", losses[b]}, {"total", totals[b]}});
      graph_.setInitialValue(v["zeroInfinity"], options_.zero_infinity);
      graph_.setTileMapping(v, tile);
    }
    prog.add(Execute(last, {debug_, "Ends"}));
    prog.add(Execute(merge, {debug_, "Loss"}));
    return {losses, totals};
  }

  // Float: it is summed up there.
  Tensor gradient(const Tensor& totals, Sequence& prog) {
    const Tensor out = create_data(graph_, FLOAT, plan_, {debug_, "gradient"});
    const ComputeSet cs = graph_.addComputeSet({debug_, "Gradient"});
    for (std::size_t b = 0; b < plan_.batch; ++b)
      for (std::size_t q = 0; q < plan_.pieces(); ++q) {
        const VertexRef v = graph_.addVertex(cs, templateVertex("popnn::CtcGradient", log_probs_.elementType()));
        graph_.connect(v["in"], data(log_probs_, b, q));
        graph_.connect(v["sequence"], about_[b]);
        connect_parts(v["forward"], forward_, b, q);
        connect_parts(v["backward"], backward_, b, q);
        graph_.connect(v["total"], totals[b]);
        graph_.connect(v["out"], data(out, b, q));
        graph_.setInitialValue(v["classes"], static_cast<unsigned>(plan_.classes));
        graph_.setInitialValue(v["blank"], blank_);
        graph_.setInitialValue(v["time"], static_cast<unsigned>(plan_.piece(q).begin()));
        graph_.setInitialValue(v["form"], static_cast<unsigned>(options_.form));
        graph_.setInitialValue(v["zeroInfinity"], options_.zero_infinity);
        graph_.setTileMapping(v, plan_.tile_of_piece(b, q));
      }
    prog.add(Execute(cs, {debug_, "Gradient"}));
    return out;
  }

  static Tensor create_data(Graph& graph, const Type& type, const Plan::Impl& plan, const DebugContext& debug) {
    const Tensor t = graph.addVariable(type, {plan.batch, plan.time, plan.classes}, debug);
    for (std::size_t b = 0; b < plan.batch; ++b)
      for (std::size_t q = 0; q < plan.pieces(); ++q) graph.setTileMapping(t[b].slice(plan.piece(q)), plan.tile_of_piece(b, q));
    return t.dimShuffle({1, 0, 2});
  }

 private:
  // {batch, time, width}
  Tensor rows(std::size_t width, std::size_t p, const char* name) {
    const Tensor t = graph_.addVariable(FLOAT, {plan_.batch, plan_.time, width}, {debug_, name});
    for (std::size_t b = 0; b < plan_.batch; ++b) graph_.setTileMapping(t[b], plan_.tile_of_part(b, p));
    return t;
  }
  // {batch, parts, n}
  Tensor by_part(const Type& type, std::size_t n, const char* name) {
    const Tensor t = graph_.addVariable(type, {plan_.batch, plan_.parts(), n}, {debug_, name});
    for (std::size_t b = 0; b < plan_.batch; ++b)
      for (std::size_t p = 0; p < plan_.parts(); ++p) graph_.setTileMapping(t[b][p], plan_.tile_of_part(b, p));
    return t;
  }
  Tensor data(const Tensor& t, std::size_t b, std::size_t q) const { return t.slice(plan_.piece(q), 0).slice(b, b + 1, 1).flatten(); }
  // A row for each part: its states at the times of the piece.
  void connect_parts(const FieldRef& field, const std::vector<Tensor>& parts, std::size_t b, std::size_t q) {
    std::vector<Tensor> list;
    for (const Tensor& t : parts) list.push_back(t[b].slice(plan_.piece(q)).flatten());
    graph_.connect(field, list);
  }
  void add_step(const ComputeSet& cs, const char* name, std::size_t b, std::size_t p, const Tensor& sums, const Tensor& neighbours,
                const Tensor& leaves, const Tensor& step) {
    const VertexRef v = graph_.addVertex(cs, name,
                                         {{"probs", probs_[p][b].flatten()},
                                          {"sums", sums.flatten()},
                                          {"neighbours", neighbours[b][p]},
                                          {"leaves", leaves[b][p]},
                                          {"sequence", here_[b][p]},
                                          {"step", step.reshape({})}});
    graph_.setInitialValue(v["first"], static_cast<unsigned>(plan_.part(p).begin()));
    graph_.setInitialValue(v["width"], static_cast<unsigned>(plan_.part(p).size()));
    graph_.setTileMapping(v, plan_.tile_of_part(b, p));
  }

  Graph& graph_;
  const Plan::Impl& plan_;
  Tensor log_probs_;
  Tensor about_;  // of each sequence: its labels, its length, its label's length
  unsigned blank_;
  bool loss_alone_;
  Options options_;
  DebugContext debug_;
  std::vector<Tensor> probs_, forward_, backward_;
  Tensor here_, before_, after_, leaves_forward_, leaves_backward_;
};

// The loss, and the gradient unless the loss alone is asked for.
std::pair<Tensor, Tensor> calculate(Graph& graph, const Type& outType, const Tensor& log_probs, const Tensor& labels,
                                    const Tensor& data_lengths, const Tensor& label_lengths, Sequence& prog, unsigned blank,
                                    const Plan::Impl& plan, bool loss_alone, const DebugContext& debug, const OptionFlags& options) {
  if (outType != plan.out)
    poputil::reject("ctc-type", "popnn::ctc: the gradient is to be {}, the plan says {}", outType.toString(), plan.out.toString());
  if (log_probs.elementType() != plan.in)
    poputil::reject("ctc-type", "popnn::ctc: the data are {}, the plan says {}", log_probs.elementType().toString(), plan.in.toString());
  check(log_probs, {plan.time, plan.batch, plan.classes}, "the data");
  check(labels, {plan.batch, plan.labels}, "the labels");
  check(data_lengths, {plan.batch}, "dataLengths");
  check(label_lengths, {plan.batch}, "labelLengths");
  if (blank >= plan.classes) poputil::reject("ctc-blank", "popnn::ctc: blankClass is {} of {} classes", blank, plan.classes);
  const Options how = parsed(options);
  check_constants(labels, data_lengths, label_lengths, blank, plan);
  const auto lengths = [&](const Tensor& t, const char* name) { return as_unsigned(graph, t, prog, name, {debug, name}).expand({1}); };
  Paths paths(graph, plan, log_probs, as_unsigned(graph, labels, prog, "labels", {debug, "labels"}),
              concat(lengths(data_lengths, "dataLengths"), lengths(label_lengths, "labelLengths"), 1), blank, loss_alone, how, debug);
  paths.gather(prog);
  paths.sum(prog);
  const auto [loss, totals] = paths.loss(prog);
  if (loss_alone) return {loss, Tensor()};
  const Tensor gradient = paths.gradient(totals, prog);
  return {loss, outType == FLOAT ? gradient : popops::cast(graph, gradient, outType, prog, {debug, "gradient"})};
}

Tensor log_softmax(Graph& graph, const Tensor& logits, const Plan::Impl& plan, Sequence& prog, const DebugContext& debug) {
  check(logits, {plan.time, plan.batch, plan.classes}, "the data");
  return logSoftmax(graph, logits, prog, {debug, "logSoftmax"});
}

}  // namespace

Tensor createDataInput(Graph& graph, const Type& type, std::size_t batchSize, std::size_t maxTime, std::size_t numClasses, const Plan& plan,
                       const DebugContext& debugContext) {
  const Plan::Impl& p = loss_plan(plan);
  if (batchSize != p.batch || maxTime != p.time || numClasses != p.classes || type != p.in)
    poputil::reject("ctc-shape", "popnn::ctc::createDataInput: {} {{{},{},{}}}, the plan says {} {{{},{},{}}}", type.toString(), maxTime,
                    batchSize, numClasses, p.in.toString(), p.time, p.batch, p.classes);
  return Paths::create_data(graph, type, p, {debugContext, "data"});
}

Tensor createLabelsInput(Graph& graph, const Type& type, std::size_t batchSize, std::size_t maxLabelLength, const Plan& plan,
                         const DebugContext& debugContext) {
  const Plan::Impl& p = loss_plan(plan);
  if (batchSize != p.batch || maxLabelLength != p.labels)
    poputil::reject("ctc-shape", "popnn::ctc::createLabelsInput: {{{},{}}}, the plan says {{{},{}}}", batchSize, maxLabelLength, p.batch,
                    p.labels);
  const Tensor t = graph.addVariable(type, {batchSize, maxLabelLength}, {debugContext, "labels"});
  for (std::size_t b = 0; b < batchSize; ++b) graph.setTileMapping(t[b], p.tile_of_part(b, 0));
  return t;
}

std::pair<Tensor, Tensor> calcLossAndGradientLogProbabilities(Graph& graph, const Type& outType, const Tensor& logProbs,
                                                              const Tensor& labels, const Tensor& dataLengths, const Tensor& labelLengths,
                                                              Sequence& prog, unsigned blankClass, const Plan& plan,
                                                              const DebugContext& debugContext, const OptionFlags& options) {
  return calculate(graph, outType, logProbs, labels, dataLengths, labelLengths, prog, blankClass, loss_plan(plan), false,
                   {debugContext, "ctcLoss"}, options);
}

std::pair<Tensor, Tensor> calcLossAndGradientLogits(Graph& graph, const Type& outType, const Tensor& logits, const Tensor& labels,
                                                    const Tensor& dataLengths, const Tensor& labelLengths, Sequence& prog,
                                                    unsigned blankClass, const Plan& plan, const DebugContext& debugContext,
                                                    const OptionFlags& options) {
  const DebugContext debug(debugContext, "ctcLoss");
  return calculate(graph, outType, log_softmax(graph, logits, loss_plan(plan), prog, debug), labels, dataLengths, labelLengths, prog,
                   blankClass, loss_plan(plan), false, debug, options);
}

Tensor calcCTCLossLogProbabilities(Graph& graph, const Type& outType, const Tensor& logProbs, const Tensor& labels,
                                   const Tensor& dataLengths, const Tensor& labelLengths, Sequence& prog, unsigned blankClass,
                                   const Plan& plan, const DebugContext& debugContext, const OptionFlags& options) {
  return calculate(graph, outType, logProbs, labels, dataLengths, labelLengths, prog, blankClass, loss_plan(plan), true,
                   {debugContext, "ctcLoss"}, options)
      .first;
}

Tensor calcCTCLossLogits(Graph& graph, const Type& outType, const Tensor& logits, const Tensor& labels, const Tensor& dataLengths,
                         const Tensor& labelLengths, Sequence& prog, unsigned blankClass, const Plan& plan,
                         const DebugContext& debugContext, const OptionFlags& options) {
  const DebugContext debug(debugContext, "ctcLoss");
  return calculate(graph, outType, log_softmax(graph, logits, loss_plan(plan), prog, debug), labels, dataLengths, labelLengths, prog,
                   blankClass, loss_plan(plan), true, debug, options)
      .first;
}

}  // namespace popnn::ctc
