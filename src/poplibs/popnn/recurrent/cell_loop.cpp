#include <algorithm>
#include <optional>

#include "poplibs/popnn/recurrent/shards.h"
#include "poplibs/poputil/reject.h"

#include <popops/Cast.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>
#include <poputil/OptionParsing.hpp>

namespace popnn::rnn {

using namespace poplar;
using internal::Shards;
using program::Sequence;
namespace pe = popops::expr;

namespace {

constexpr const char* kWhere = "popnn::rnn::Rnn";
constexpr unsigned kShardsWithCellsOfTheirOwn = 15;

bool one_cell(const OptionFlags& options, unsigned shards) {
  bool reuse = shards > kShardsWithCellsOfTheirOwn;
  const poplibs::OptionSpec spec{{"codeReuse", poplibs::OptionHandler::createWithBool(reuse)}};
  spec.parse(options);
  return reuse;
}

DebugNameAndId name_of(const DebugContext& context) {
  return DebugNameAndId("", context.getParentDebugId(), context.getPathName(), context.getSourceLocation());
}

// What both forms of Rnn are given.
struct Job {
  bool reverse;
  const std::vector<Tensor>& states;
  const StateSequence& state_sequence;
  const std::vector<Tensor>& inputs;
  Tensor interim_in, interim_out;
  std::size_t temporaries;  // rows of interimOut
  const std::vector<Tensor>& outputs;
  const std::vector<Tensor>& created;
  const LoopBodyType& cell;
  // Only of the second form.
  const std::vector<Tensor>& gather_inputs;
  const GatherBodyType* gather;
  std::size_t steps_per_gather;
};

class CellLoop {
 public:
  CellLoop(Graph& graph, const RnnParams& params, const Job& job, unsigned shards, const OptionFlags& options, const DebugContext& debug)
      : graph_(graph),
        params_(params),
        job_(job),
        debug_(debug),
        shards_(checked(params, job), shards, kWhere),
        reuse_(one_cell(options, shards)) {}

  std::vector<Tensor> run(Sequence& prog) {
    for (const Tensor& t : job_.states) {
      states_.push_back(t.valid() ? graph_.clone(t, {debug_, "state"}) : t);
      if (t.valid()) prog.add(program::Copy(t, states_.back(), false, {debug_, "initialState"}));
    }
    counter_ = number("counter");
    if (reuse_) begin_ = number("begin");
    find_limits(prog);
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      const std::size_t at = job_.reverse ? shards_.size() - 1 - i : i;
      run_shard(shards_[at], i == 0 ? &prog : nullptr, {debug_, "shard" + std::to_string(at)}, prog);
    }
    return states_;
  }

 private:
  static const RnnParams& checked(const RnnParams& params, const Job& job) {
    if (params.maxTimeSteps == 0 || params.batchSize == 0) poputil::reject("layer-parameters", "{}: a size is 0", kWhere);
    if (params.dataType != FLOAT && params.dataType != HALF)
      poputil::reject("layer-parameters", "{}: data of type {}; expected float or half", kWhere, params.dataType.toString());
    internal::check_lengths(params, kWhere);
    if (!job.cell) poputil::reject("operand", "{}: no function that makes a cell", kWhere);
    if (job.gather && !*job.gather) poputil::reject("operand", "{}: no function that gathers", kWhere);
    const auto one_row = [&](const Tensor& t, const char* what) {
      if (t.valid() && internal::rows_per_step(params, t, kWhere, what) != 1)
        poputil::reject("operand", "{}: {} is of shape {}; expected {} steps in its first dimension", kWhere, what, t.shapeToString(),
                        params.maxTimeSteps);
    };
    for (const Tensor& t : job.inputs) one_row(t, "an input");
    for (const Tensor& t : job.gather_inputs) one_row(t, "an input of what gathers");
    one_row(job.interim_in, "interimIn");
    one_row(job.interim_out, "interimOut");
    for (const Tensor& t : job.outputs) internal::rows_per_step(params, t, kWhere, "an output");
    for (const Tensor& t : job.created) internal::rows_per_step(params, t, kWhere, "a created sequence");
    if (!job.state_sequence.output.valid()) return params;
    if (job.state_sequence.stateIndex >= job.states.size() || !job.states[job.state_sequence.stateIndex].valid())
      poputil::reject("state-index", "{}: the sequence of states is of state {} of {}, which there is not", kWhere,
                      job.state_sequence.stateIndex, job.states.size());
    internal::rows_per_step(params, job.state_sequence.output, kWhere, "the sequence of states");
    return params;
  }

  Tensor number(const char* name) {
    const Tensor t = graph_.addVariable(UNSIGNED_INT, {1}, {debug_, name});
    graph_.setTileMapping(t, 0);
    return t;
  }
  Tensor constant(std::size_t value, const DebugContext& debug) {
    const Tensor t = graph_.addConstant(UNSIGNED_INT, {1}, static_cast<unsigned>(value), {debug, "constant"});
    graph_.setTileMapping(t, 0);
    return t;
  }
  void set(const Tensor& t, std::size_t value, Sequence& prog, const DebugContext& debug) {
    prog.add(program::Copy(constant(value, debug), t, false, {debug, "set"}));
  }

  // The last step of any sequence, and of all: where variable steps end.
  void find_limits(Sequence& prog) {
    if (!params_.variableTimeSteps()) return;
    const Tensor lengths = popops::cast(graph_, params_.varTimeSteps, INT, prog, {debug_, "lengths"});
    longest_ = popops::reduce(graph_, lengths, {0}, {popops::Operation::MAX}, prog, {debug_, "longest"});
    shortest_ = popops::reduce(graph_, lengths, {0}, {popops::Operation::MIN}, prog, {debug_, "shortest"});
  }

  // begin + counter.
  Tensor step_number(const Interval& shard, Sequence& prog, const DebugContext& debug) {
    return popops::cast(graph_, shard.begin() == 0 && !reuse_ ? counter_ : popops::add(graph_, begin_, counter_, prog, {debug, "step"}),
                        INT, prog, {debug, "step"});
  }

  // body, or nothing where all sequences have ended.
  program::Program if_counts(const Interval& shard, const program::Program& body, const DebugContext& debug) {
    if (!params_.variableTimeSteps()) return body;
    Sequence prog;
    const Tensor counts =
        popops::map(graph_, pe::Lt(pe::_1, pe::_2), {step_number(shard, prog, debug).reshape({}), longest_}, prog, {debug, "counts"});
    prog.add(program::If(counts, body, Sequence(), {debug, "ifCounts"}));
    return prog;
  }

  // Of a sequence {steps * n, ...} a shard's steps, {steps of the shard, n, ...}.
  Tensor of_shard(const Tensor& sequence, const Interval& shard) const {
    return sequence.reshapePartial(0, 1, {params_.maxTimeSteps, sequence.dim(0) / params_.maxTimeSteps}).slice(shard, 0);
  }

  // Rows that a cell sets: {n, ...}, laid out as a step of the sequence is.
  Tensor row_like(const Tensor& sequence, const Interval& shard, const DebugContext& debug) {
    return graph_.clone(of_shard(sequence, shard)[0], {debug, "row"});
  }

  void put(const Tensor& sequence, const Tensor& row, const Interval& shard, Sequence& prog, const DebugContext& debug) {
    const Tensor steps = of_shard(sequence, shard);
    if (row.valid() && row.elementType() == sequence.elementType() && row.numElements() == steps[0].numElements() &&
        (row.shape() == steps[0].shape() || (sequence.dim(0) == params_.maxTimeSteps && row.shape() == steps[0][0].shape()))) {
      popops::dynamicUpdate(graph_, steps, row.reshape(steps[0].shape()).expand({0}), counter_, {0}, {1}, prog, {debug, "put"});
      return;
    }
    poputil::reject("operand", "{}: what is kept of a step is {}; the sequence that keeps it, {} {} of {} steps, expects {}", kWhere,
                    row.valid() ? row.elementType().toString() + " " + row.shapeToString() : std::string("an invalid tensor"),
                    sequence.elementType().toString(), sequence.shapeToString(), params_.maxTimeSteps, steps[0].shapeToString());
  }

  Tensor get(const Tensor& sequence, const Interval& shard, Sequence& prog, const DebugContext& debug) {
    if (!sequence.valid()) return sequence;
    return popops::dynamicSlice(graph_, sequence.slice(shard, 0), counter_, {0}, {1}, prog, {debug, "get"})[0];
  }

  RnnSlice slice_of(const Interval& shard, Sequence& prog, const DebugContext& debug) {
    RnnSlice s;
    for (const Tensor& t : job_.inputs) s.inputs.push_back(get(t, shard, prog, {debug, "input"}));
    s.interimIn = get(job_.interim_in, shard, prog, {debug, "interimIn"});
    for (const Tensor& t : job_.outputs) s.outputs.push_back(row_like(t, shard, {debug, "output"}));
    if (job_.interim_out.valid())
      s.interimOut = row_like(job_.interim_out, shard, {debug, "interimOut"})[0];
    else if (job_.temporaries != 0)
      s.interimOut = createInitialState(graph_, params_, true, static_cast<unsigned>(job_.temporaries), 1, {debug, "interimOut"});
    return s;
  }

  RnnBatchwiseFlags flags_of(const Tensor& step, Sequence& prog, const DebugContext& debug) {
    const auto flag = [&](const pe::Expr& condition, const char* name) {
      return popops::map(graph_, pe::Cast(condition, params_.dataType), {step, params_.varTimeSteps.reinterpret(INT)}, prog, {debug, name});
    };
    return {flag(pe::Lt(pe::_1, pe::_2), "mask"), flag(pe::Gte(pe::_1, pe::_2), "inverse")};
  }

  struct Made {
    RnnSlice slice;
    std::vector<Tensor> created;
    RnnBatchwiseFlags flags;
    TimeStepState time;
    std::optional<Function> cell;
  };

  // What the one cell of all shards works on are tensors of its own.
  void keep(Tensor& t, Tensor& kept, Sequence& prog, const DebugContext& debug) {
    if (!t.valid()) return;
    if (!kept.valid()) kept = graph_.clone(t, {debug, "kept"});
    prog.add(program::Copy(t, kept, false, {debug, "kept"}));
    t = kept;
  }

  // The step at `counter`; sets the row that it leaves for what gathers.
  Sequence step(const Interval& shard, Sequence* before, const DebugContext& debug, Tensor& row) {
    Sequence prog({}, debug);
    Made now;
    now.slice = slice_of(shard, prog, debug);
    now.time = {begin_, counter_, {}};
    if (params_.variableTimeSteps()) {
      const Tensor at = step_number(shard, prog, debug);
      now.time.variableSeqFlag =
          popops::map(graph_, pe::Gte(pe::_1, pe::_2), {at.reshape({}), shortest_}, prog, {debug, "variableSeqFlag"});
      if (params_.batchVariableTimeSteps()) now.flags = flags_of(at, prog, debug);
    }
    now.created.resize(job_.created.size());
    if (!reuse_) {
      prog.add(job_.cell(graph_, now.time, now.flags, states_, now.slice, now.created, before, name_of(debug)));
    } else {
      hold(now, prog, debug);
      if (!made_.cell)
        made_.cell =
            graph_.addFunction(job_.cell(graph_, made_.time, made_.flags, states_, made_.slice, made_.created, before, name_of(debug)));
      prog.add(program::Call(*made_.cell, {debug, "cell"}));
      now.created = made_.created;
    }
    finish(now, shard, prog, debug);
    row = now.slice.interimOut;
    return prog;
  }

  void hold(Made& now, Sequence& prog, const DebugContext& debug) {
    made_.slice.inputs.resize(now.slice.inputs.size());
    for (std::size_t i = 0; i < now.slice.inputs.size(); ++i) keep(now.slice.inputs[i], made_.slice.inputs[i], prog, debug);
    keep(now.slice.interimIn, made_.slice.interimIn, prog, debug);
    keep(now.flags.mask, made_.flags.mask, prog, debug);
    keep(now.flags.inverse, made_.flags.inverse, prog, debug);
    keep(now.time.variableSeqFlag, made_.time.variableSeqFlag, prog, debug);
    made_.time.begin = begin_;
    made_.time.counter = counter_;
    if (made_.cell) {
      now.slice.outputs = made_.slice.outputs;
      now.slice.interimOut = made_.slice.interimOut;
    } else {
      made_.slice.outputs = now.slice.outputs;
      made_.slice.interimOut = now.slice.interimOut;
      made_.created.resize(job_.created.size());
    }
  }

  void finish(const Made& now, const Interval& shard, Sequence& prog, const DebugContext& debug) {
    if (job_.interim_out.valid()) put(job_.interim_out, now.slice.interimOut, shard, prog, {debug, "interimOut"});
    if (job_.state_sequence.output.valid())
      put(job_.state_sequence.output, states_.at(job_.state_sequence.stateIndex), shard, prog, {debug, "stateSequence"});
    for (std::size_t i = 0; i < job_.outputs.size(); ++i) put(job_.outputs[i], now.slice.outputs.at(i), shard, prog, {debug, "output"});
    for (std::size_t i = 0; i < job_.created.size(); ++i) put(job_.created[i], now.created.at(i), shard, prog, {debug, "created"});
  }

  void run_shard(const Interval& shard, Sequence* before, const DebugContext& debug, Sequence& prog) {
    Sequence loop({}, debug);
    if (reuse_)
      set(begin_, shard.begin(), loop, debug);
    else
      begin_ = constant(shard.begin(), debug);
    set(counter_, job_.reverse ? shard.size() : 0, loop, debug);
    Tensor row;
    const Sequence one_step = step(shard, before, debug, row);
    if (job_.gather) {
      add_gathering_steps(shard, one_step, row, before, loop, debug);
    } else {
      Sequence round({}, debug);
      if (job_.reverse) count(-1, counter_, round, debug);
      round.add(if_counts(shard, one_step, debug));
      if (!job_.reverse) count(1, counter_, round, debug);
      loop.add(program::Repeat(static_cast<unsigned>(shard.size()), round, {debug, "steps"}));
    }
    prog.add(loop);
  }

  void count(int by, const Tensor& counter, Sequence& prog, const DebugContext& debug) {
    if (by > 0)
      popops::addInPlace(graph_, counter, constant(1, debug), prog, {debug, "count"});
    else
      popops::subInPlace(graph_, counter, constant(1, debug), prog, {debug, "count"});
  }

  // From the last step on, runs of as many steps as are gathered at once; what is left over are the shard's first ones.
  void add_gathering_steps(const Interval& shard, const Sequence& one_step, const Tensor& row, Sequence* before, Sequence& prog,
                           const DebugContext& debug) {
    const std::size_t run = std::min(job_.steps_per_gather, shard.size()), runs = shard.size() / run, rest = shard.size() % run;
    const Tensor rows = createOutputTensorOfRun(run, debug), offset = number("offset");
    Sequence round({}, debug);
    count(-1, counter_, round, debug);
    count(-1, offset, round, debug);
    Sequence kept({one_step}, debug);
    if (job_.temporaries != 0) popops::dynamicUpdate(graph_, rows, row.expand({0}), offset, {0}, {1}, kept, {debug, "temporaries"});
    round.add(if_counts(shard, kept, debug));
    // The cell is made once for whole runs and for the rest.
    const Function round_function = graph_.addFunction(round);
    const auto run_of = [&](std::size_t steps, bool one_of_several) {
      Sequence of_run({}, debug);
      set(offset, steps, of_run, debug);
      if (params_.variableTimeSteps() && job_.temporaries != 0) popops::zero(graph_, rows, of_run, {debug, "temporaries"});
      of_run.add(program::Repeat(static_cast<unsigned>(steps), program::Call(round_function, {debug, "step"}), {debug, "run"}));
      RnnSlice s;
      Sequence gather({}, debug);
      for (const Tensor& t : job_.gather_inputs) s.inputs.push_back(steps_of(t, shard, steps, one_of_several, gather, debug));
      if (job_.temporaries != 0) s.interimIn = rows.slice(0, steps).flatten(0, 2);
      gather.add((*job_.gather)(graph_, s, static_cast<unsigned>(steps), before, name_of(debug)));
      before = nullptr;
      of_run.add(if_counts(shard, gather, debug));
      return of_run;
    };
    prog.add(program::Repeat(static_cast<unsigned>(runs), run_of(run, runs > 1 || rest != 0), {debug, "runs"}));
    if (rest != 0) prog.add(run_of(rest, false));
  }

  // {steps, temporaries, batch, output size}.
  Tensor createOutputTensorOfRun(std::size_t steps, const DebugContext& debug) {
    if (job_.temporaries == 0) return {};
    const auto rows = static_cast<unsigned>(steps * job_.temporaries);
    return createInitialState(graph_, params_, true, rows, 1, {debug, "temporaries"}).reshapePartial(0, 1, {steps, job_.temporaries});
  }

  // Of an input of what gathers the run that begins at `counter`, or the shard's first steps: {steps * n, ...}.
  Tensor steps_of(const Tensor& t, const Interval& shard, std::size_t steps, bool at_counter, Sequence& prog, const DebugContext& debug) {
    if (!t.valid()) return t;
    const Tensor mine = t.slice(shard, 0);
    const Tensor out =
        at_counter ? popops::dynamicSlice(graph_, mine, counter_, {0}, {steps}, prog, {debug, "gather"}) : mine.slice(0, steps);
    return out.rank() > 1 ? out.flatten(0, 2) : out;
  }

  Graph& graph_;
  const RnnParams& params_;
  const Job& job_;
  const DebugContext& debug_;
  const Shards shards_;
  const bool reuse_;
  std::vector<Tensor> states_;
  Tensor counter_, begin_, longest_, shortest_;
  Made made_;  // of the one cell of all shards
};

}  // namespace

std::vector<Tensor> Rnn(Graph& graph, const RnnParams& params, bool reverse, const std::vector<Tensor>& initState,
                        const StateSequence& stateSequence, const std::vector<Tensor>& inputs, const Tensor* interimIn, Tensor* interimOut,
                        const std::vector<Tensor>& outputs, const std::vector<Tensor>& created, Sequence& prog, const LoopBodyType& loopFn,
                        unsigned numShards, OptionFlags& options, const DebugContext& debugContext) {
  const std::vector<Tensor> none;
  const Job job = {reverse,
                   initState,
                   stateSequence,
                   inputs,
                   interimIn ? *interimIn : Tensor(),
                   interimOut ? *interimOut : Tensor(),
                   0,
                   outputs,
                   created,
                   loopFn,
                   none,
                   nullptr,
                   0};
  return CellLoop(graph, params, job, numShards, options, {debugContext, "rnn"}).run(prog);
}

std::vector<Tensor> Rnn(Graph& graph, const RnnParams& params, const std::vector<Tensor>& initState, const StateSequence& stateSequence,
                        const std::vector<Tensor>& inputs, const Tensor& interimIn, const unsigned numTemps, Sequence& prog,
                        const LoopBodyType& loopFn, const std::vector<Tensor>& gatherInputs, const GatherBodyType& gatherFn,
                        unsigned numShards, unsigned stepsPerGather, OptionFlags& options, const DebugContext& debugContext) {
  if (stepsPerGather == 0) poputil::reject("steps-per-gather", "{}: 0 steps for what gathers; expected at least 1", kWhere);
  const std::vector<Tensor> none;
  const Job job = {true, initState, stateSequence, inputs,    interimIn,     {}, numTemps, none,
                   none, loopFn,    gatherInputs,  &gatherFn, stepsPerGather};
  return CellLoop(graph, params, job, numShards, options, {debugContext, "rnn"}).run(prog);
}

}  // namespace popnn::rnn
