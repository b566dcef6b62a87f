#include <algorithm>
#include <numeric>

#include "poplibs/popnn/recurrent/shards.h"
#include "poplibs/poputil/reject.h"

#include <poputil/TileMapping.hpp>

namespace popnn::rnn {

using namespace poplar;
using internal::check_sizes;
using internal::Shards;
using program::Sequence;

namespace {

// Of one step's rows {batch, size}, in grains of up to 16 neighbours, which stay together.
struct Spread {
  std::size_t grain, per_tile, tiles;

  Spread(const Graph& graph, std::size_t batch, std::size_t size) : grain(std::gcd(std::size_t{16}, size)) {
    const std::size_t grains = batch * (size / grain), all = graph.getTarget().getNumTiles();
    per_tile = (grains + all - 1) / all;
    tiles = (grains + per_tile - 1) / per_tile;
  }
  std::size_t elements() const { return grain * per_tile; }
};

std::size_t bytes_per_tile(const Graph& graph, const RnnParams& params, std::size_t size, const char* where) {
  check_sizes(params, where);
  return Spread(graph, params.batchSize, size).elements() * graph.getTarget().getTypeSize(params.dataType);
}

// The shards' parts {steps * multiple, batch, size}, one after the other.
Tensor create(Graph& graph, const RnnParams& params, std::size_t size, std::size_t multiple,
              const std::vector<std::size_t>& steps_of_shards, const DebugContext& debug, const char* where) {
  internal::check_parameters(params, where);
  if (size == 0 || multiple == 0) poputil::reject("layer-parameters", "{}: a size is 0", where);
  const Spread spread(graph, params.batchSize, size);
  const std::size_t places = graph.getTarget().getNumTiles() / spread.tiles;
  std::vector<Tensor> parts;
  for (std::size_t shard = 0; shard < steps_of_shards.size(); ++shard) {
    const Tensor part = graph.addVariable(params.dataType, {steps_of_shards[shard] * multiple, params.batchSize, size}, debug);
    const Tensor rows = part.flatten(1, 3);
    for (std::size_t tile = 0; tile < spread.tiles; ++tile) {
      const std::size_t first = tile * spread.elements(), end = std::min(first + spread.elements(), rows.dim(1));
      graph.setTileMapping(rows.slice(first, end, 1), static_cast<unsigned>(shard % places * spread.tiles + tile));
    }
    parts.push_back(part);
  }
  return concat(parts);
}

Tensor create_sequence(Graph& graph, const RnnParams& params, std::size_t size, std::size_t multiple, unsigned shards,
                       const DebugContext& debug, const char* where) {
  check_sizes(params, where);
  std::vector<std::size_t> steps;
  for (const Interval& shard : Shards(params, shards, where)) steps.push_back(shard.size());
  return create(graph, params, size, multiple, steps, debug, where);
}

}  // namespace

RnnParams::RnnParams(Type dataType_, std::size_t batchSize_, std::size_t timeSteps_, std::vector<std::size_t> layerSizes_)
    : dataType(dataType_), batchSize(batchSize_), maxTimeSteps(timeSteps_), timeSteps(timeSteps_), layerSizes(std::move(layerSizes_)) {}

RnnParams::RnnParams(Type dataType_, std::size_t batchSize_, std::size_t maxTimeSteps_, const Tensor& varTimeSteps_,
                     std::vector<std::size_t> layerSizes_)
    : RnnParams(dataType_, batchSize_, maxTimeSteps_, std::move(layerSizes_)) {
  varTimeSteps = varTimeSteps_;
  internal::check_lengths(*this, "popnn::rnn::RnnParams");
}

std::size_t RnnParams::getMaxShards(const Graph& graph) const {
  check_sizes(*this, "popnn::rnn::RnnParams::getMaxShards");
  const std::size_t tiles = std::max(Spread(graph, batchSize, layerSizes[0]).tiles, Spread(graph, batchSize, layerSizes[1]).tiles);
  return std::min<std::size_t>(maxTimeSteps, graph.getTarget().getNumTiles() / tiles);
}
std::size_t RnnParams::getInputBytesPerTile(const Graph& graph) const {
  return bytes_per_tile(graph, *this, layerSizes.empty() ? 0 : layerSizes[0], "popnn::rnn::RnnParams::getInputBytesPerTile");
}
std::size_t RnnParams::getOutputBytesPerTile(const Graph& graph) const {
  return bytes_per_tile(graph, *this, layerSizes.empty() ? 0 : layerSizes.back(), "popnn::rnn::RnnParams::getOutputBytesPerTile");
}
bool RnnParams::variableTimeSteps() const { return varTimeSteps.valid(); }
bool RnnParams::batchVariableTimeSteps() const { return varTimeSteps.valid() && varTimeSteps.numElements() > 1; }

Tensor createInitialState(Graph& graph, const RnnParams& params, bool isOutput, unsigned multiple, unsigned numShards,
                          const DebugContext& debugContext) {
  const char* where = "popnn::rnn::createInitialState";
  check_sizes(params, where);
  const Shards checked(params, numShards, where);
  return create(graph, params, params.layerSizes[isOutput ? 1 : 0], multiple, {1}, {debugContext, "initialState"}, where);
}
Tensor createRecurrentTensor(Graph& graph, const RnnParams& params, unsigned size, unsigned numShards, const DebugContext& debugContext) {
  return create_sequence(graph, params, size, 1, numShards, {debugContext, "recurrent"}, "popnn::rnn::createRecurrentTensor");
}
Tensor createInputTensor(Graph& graph, const RnnParams& params, unsigned numShards, const DebugContext& debugContext) {
  const char* where = "popnn::rnn::createInputTensor";
  check_sizes(params, where);
  return create_sequence(graph, params, params.layerSizes[0], 1, numShards, {debugContext, "input"}, where);
}
Tensor createOutputTensor(Graph& graph, const RnnParams& params, unsigned numShards, const DebugContext& debugContext) {
  return createOutputTensor(graph, params, 1, numShards, debugContext);
}
Tensor createOutputTensor(Graph& graph, const RnnParams& params, unsigned multiple, unsigned numShards, const DebugContext& debugContext) {
  const char* where = "popnn::rnn::createOutputTensor";
  check_sizes(params, where);
  return create_sequence(graph, params, params.layerSizes[1], multiple, numShards, {debugContext, "output"}, where);
}

Tensor shiftRnnTensor(Graph& graph, const RnnParams& params, const Tensor& tBase, const Tensor& tSingle, Sequence& prog, unsigned numShards,
                      const DebugContext& debugContext) {
  const char* where = "popnn::rnn::shiftRnnTensor";
  check_sizes(params, where);
  const Shards checked(params, numShards, where);
  const std::size_t rows = internal::rows_per_step(params, tBase, where, "the sequence");
  std::vector<std::size_t> shape = tBase.shape();
  shape[0] = rows;
  if (!tSingle.valid() || tSingle.shape() != shape || tSingle.elementType() != tBase.elementType())
    poputil::reject("operand", "{}: the first step is {}; expected {} {}", where,
                    tSingle.valid() ? tSingle.elementType().toString() + " " + tSingle.shapeToString() : "an invalid tensor",
                    tBase.elementType().toString(), tBase.slice(0, rows).shapeToString());
  const Tensor out = graph.clone(tBase, {debugContext, "shifted"});
  prog.add(program::Copy(concat(tSingle, tBase.slice(0, tBase.dim(0) - rows)), out, false, {debugContext, "shift"}));
  return out;
}

namespace internal {

Shards::Shards(const RnnParams& params, unsigned count, const char* where) {
  const std::size_t steps = params.maxTimeSteps;
  if (count == 0 || count > steps) poputil::reject("shards", "{}: {} shards of {} steps; expected 1 to {}", where, count, steps, steps);
  for (std::size_t i = 0; i < count; ++i) intervals_.emplace_back(i * steps / count, (i + 1) * steps / count);
}

std::size_t rows_per_step(const RnnParams& params, const Tensor& sequence, const char* where, const char* what) {
  if (!sequence.valid() || sequence.rank() == 0 || sequence.dim(0) == 0 || sequence.dim(0) % params.maxTimeSteps != 0)
    poputil::reject("operand", "{}: {} is {}; expected a multiple of the {} steps in its first dimension", where, what,
                    sequence.valid() ? "of shape " + sequence.shapeToString() : std::string("an invalid tensor"), params.maxTimeSteps);
  return sequence.dim(0) / params.maxTimeSteps;
}

void check_layer_sizes(const RnnParams& params, const std::string& where) {
  if (params.layerSizes.size() != 2)
    poputil::reject("layer-parameters", "{}: {} layer sizes; expected those of input and output", where, params.layerSizes.size());
}

void check_sizes(const RnnParams& params, const std::string& where) {
  check_layer_sizes(params, where);
  if (params.maxTimeSteps == 0 || params.batchSize == 0 || params.layerSizes[0] == 0 || params.layerSizes[1] == 0)
    poputil::reject("layer-parameters", "{}: a size is 0", where);
}

void check_parameters(const RnnParams& params, const std::string& where) {
  check_sizes(params, where);
  if (params.dataType != FLOAT && params.dataType != HALF)
    poputil::reject("layer-parameters", "{}: data of type {}; expected float or half", where, params.dataType.toString());
  check_lengths(params, where);
}

void check_lengths(const RnnParams& params, const std::string& where) {
  const Tensor& n = params.varTimeSteps;
  if (!n.valid()) return;
  if (n.rank() != 1 || (n.dim(0) != 1 && n.dim(0) != params.batchSize) || (n.elementType() != INT && n.elementType() != UNSIGNED_INT))
    poputil::reject("var-time-steps", "{}: varTimeSteps is {} {}; expected int or unsigned int, {{1}} or {{{}}}", where,
                    n.elementType().toString(), n.shapeToString(), params.batchSize);
}

}  // namespace internal

}  // namespace popnn::rnn
