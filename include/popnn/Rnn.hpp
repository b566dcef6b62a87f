#ifndef popnn_Rnn_hpp
#define popnn_Rnn_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poputil/DebugInfo.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace popnn {
namespace rnn {

/// What recurrent layers have in common. Sequences are {time steps, batch, size}.
struct POPLAR_EXPORT RnnParams {
  poplar::Type dataType;
  std::size_t batchSize = 0;
  std::size_t maxTimeSteps = 0;
  /// What the constructor was given, for programs that read it by its older name. Nothing here reads it: set maxTimeSteps.
  std::size_t timeSteps = 0;
  /// How many steps count: INT or UNSIGNED_INT, {1} for all sequences, or {batch} for each its own; more than maxTimeSteps count as that
  /// many. An invalid tensor: maxTimeSteps.
  poplar::Tensor varTimeSteps;
  /// Sizes of the input and of the output.
  std::vector<std::size_t> layerSizes;

  RnnParams() = default;
  RnnParams(poplar::Type dataType, std::size_t batchSize, std::size_t timeSteps, std::vector<std::size_t> layerSizes);
  /// Throws poputil::poplibs_error if \p varTimeSteps is valid and neither {1} nor {batchSize}.
  RnnParams(poplar::Type dataType, std::size_t batchSize, std::size_t maxTimeSteps, const poplar::Tensor& varTimeSteps,
            std::vector<std::size_t> layerSizes);

  std::size_t getInputSize() const { return layerSizes.at(0); }
  std::size_t getOutputSize() const { return layerSizes.at(1); }

  /// In how many shards the steps fit such that no two shards share a tile; 1 at least. All three throw poputil::poplibs_error for sizes
  /// of 0.
  std::size_t getMaxShards(const poplar::Graph& graph) const;
  /// Bytes of one step's input, and of its output, on the tile that has most of them.
  std::size_t getInputBytesPerTile(const poplar::Graph& graph) const;
  std::size_t getOutputBytesPerTile(const poplar::Graph& graph) const;

  /// Whether varTimeSteps is valid, and whether it has a number for each sequence.
  bool variableTimeSteps() const;
  bool batchVariableTimeSteps() const;
};

// Variables for layers with a cell of the program's own. Steps are cut into \p numShards runs of neighbours, as even as they can be; each
// run's steps lie on tiles of its own, while there are tiles. All throw poputil::poplibs_error for sizes of 0, for types other than FLOAT
// and HALF, and for a number of shards that is 0 or greater than that of steps.

/// {multiple, batch, input size}, with \p isOutput {multiple, batch, output size}: a state.
POPLAR_EXPORT poplar::Tensor createInitialState(poplar::Graph& graph, const RnnParams& params, bool isOutput, unsigned multiple,
                                                unsigned numShards, const poplar::DebugContext& debugContext = {});
/// {steps, batch, size}.
POPLAR_EXPORT poplar::Tensor createRecurrentTensor(poplar::Graph& graph, const RnnParams& params, unsigned size, unsigned numShards,
                                                   const poplar::DebugContext& debugContext = {});
/// {steps, batch, input size}.
POPLAR_EXPORT poplar::Tensor createInputTensor(poplar::Graph& graph, const RnnParams& params, unsigned numShards,
                                               const poplar::DebugContext& debugContext = {});
/// {steps, batch, output size}.
POPLAR_EXPORT poplar::Tensor createOutputTensor(poplar::Graph& graph, const RnnParams& params, unsigned numShards,
                                                const poplar::DebugContext& debugContext = {});
/// {steps * multiple, batch, output size}: \p multiple rows for each step, one step's after the other's.
POPLAR_EXPORT poplar::Tensor createOutputTensor(poplar::Graph& graph, const RnnParams& params, unsigned multiple, unsigned numShards,
                                                const poplar::DebugContext& debugContext = {});

/// A sequence that is one step behind \p tBase, {steps * multiple, ...}: its first step is \p tSingle, {multiple, ...}, each other one the
/// step before of \p tBase. A copy that \p prog makes.
POPLAR_EXPORT poplar::Tensor shiftRnnTensor(poplar::Graph& graph, const RnnParams& params, const poplar::Tensor& tBase,
                                            const poplar::Tensor& tSingle, poplar::program::Sequence& prog, unsigned numShards,
                                            const poplar::DebugContext& debugContext = {});

/// What a cell sees of one step.
struct RnnSlice {
  /// Of each input {steps, ...} the step's {...}.
  std::vector<poplar::Tensor> inputs;
  /// Of intermediates {steps, ...} the step's {...}.
  poplar::Tensor interimIn;
  /// What the cell has to set: the step's row of the intermediates.
  poplar::Tensor interimOut;
  /// What the cell has to set: of each output {steps * multiple, ...} the step's {multiple, ...}.
  std::vector<poplar::Tensor> outputs;
};

/// With a number of steps for each sequence: {batch}, of the layer's type. `mask` is 1 for sequences that the step counts for and 0 for
/// others, `inverse` the other way round.
struct RnnBatchwiseFlags {
  poplar::Tensor mask;
  poplar::Tensor inverse;
  bool valid() const { return mask.valid(); }
};

/// Which step it is: `begin` + `counter`, both UNSIGNED_INT, {1}; `begin` is the shard's first. `variableSeqFlag`, BOOL, {}: whether the
/// step is behind the last one of some sequence; invalid without variable steps.
struct TimeStepState {
  poplar::Tensor begin;
  poplar::Tensor counter;
  poplar::Tensor variableSeqFlag;
};

/// Makes a cell: the program of one step. It is given the states, which its program changes in place; the step's slices; the step's part
/// of each tensor in `created`, which it has to set to tensors of its own; and, where the first shard's cell is made, a program that runs
/// once before all steps, for others a null pointer.
using LoopBodyType = std::function<poplar::program::Sequence(
    poplar::Graph& graph, const TimeStepState& time, const RnnBatchwiseFlags&, std::vector<poplar::Tensor>&, const RnnSlice& slice,
    std::vector<poplar::Tensor>&, poplar::program::Sequence*, const poplar::DebugNameAndId&)>;

/// Makes a program for several neighbouring steps. `slice.inputs` has of each input {steps, n, ...} the steps' {stepsPerGather * n, ...},
/// `slice.interimIn` what their cells left, {stepsPerGather * temporaries, batch, output size}, both with the earliest step first.
using GatherBodyType = std::function<poplar::program::Sequence(poplar::Graph& graph, const RnnSlice& slice, unsigned stepsPerGather,
                                                               poplar::program::Sequence*, const poplar::DebugNameAndId&)>;

/// A sequence {steps * n, ...} that keeps what state number `stateIndex`, {n, ...}, is after each step. None if `output` is invalid.
struct StateSequence {
  poplar::Tensor output;
  std::size_t stateIndex;
};

/// Runs a cell for each step, with \p reverse from the last to the first. Returns the states after all steps.
///
/// \p initState: the states before, copied; {n, batch, size} or any other shape; invalid ones stay so. \p inputs, \p interimIn,
/// \p interimOut, \p outputs: see RnnSlice; invalid inputs and null pointers are passed on as invalid tensors. \p created: sequences
/// {steps, ...} or {steps * n, ...} of what the cell sets its part to, of shape {...} or {n, ...}.
/// With params.varTimeSteps steps behind all sequences' last are left out, and so are their parts of sequences that are written.
/// Option: `codeReuse` (true or false; default true for more than 15 shards): one cell for all shards instead of one for each.
/// Throws poputil::poplibs_error for shapes that do not fit the steps, an empty function and a number of shards as above.
POPLAR_EXPORT std::vector<poplar::Tensor> Rnn(poplar::Graph& graph, const RnnParams& params, bool reverse,
                                              const std::vector<poplar::Tensor>& initState, const StateSequence& stateSequence,
                                              const std::vector<poplar::Tensor>& inputs, const poplar::Tensor* interimIn,
                                              poplar::Tensor* interimOut, const std::vector<poplar::Tensor>& outputs,
                                              const std::vector<poplar::Tensor>& created, poplar::program::Sequence& prog,
                                              const LoopBodyType& loopFn, unsigned numShards, poplar::OptionFlags& options,
                                              const poplar::DebugContext& debugContext = {});

/// Runs a cell for each step, from the last to the first; what it leaves in `interimOut`, {numTemps, batch, output size}, is kept for
/// \p stepsPerGather steps, for which \p gatherFn's program then runs; within a shard the first steps' run may be shorter. With variable
/// steps what a step that is left out would leave is 0.
POPLAR_EXPORT std::vector<poplar::Tensor> Rnn(poplar::Graph& graph, const RnnParams& params, const std::vector<poplar::Tensor>& initState,
                                              const StateSequence& stateSequence, const std::vector<poplar::Tensor>& inputs,
                                              const poplar::Tensor& interimIn, const unsigned numTemps, poplar::program::Sequence& prog,
                                              const LoopBodyType& loopFn, const std::vector<poplar::Tensor>& gatherInputs,
                                              const GatherBodyType& gatherFn, unsigned numShards, unsigned stepsPerGather,
                                              poplar::OptionFlags& options, const poplar::DebugContext& debugContext = {});

}  // namespace rnn
}  // namespace popnn

#endif
