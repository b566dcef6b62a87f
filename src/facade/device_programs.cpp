// Functions that add steps to a program: cycle counts, floating-point behaviour, seeds, metadata tensors; and pando/host.hpp.
#include "facade/builtin/builtin_codelets.h"
#include "facade/engine/engine_state.h"
#include "facade/state/state.h"
#include "pando/host.hpp"
#include "pando/transfer.hpp"
#include "poplar/CSRFunctions.hpp"
#include "poplar/CycleCount.hpp"
#include "poplar/MetadataCreation.hpp"
#include "poplar/RandomSeed.hpp"

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::TileId;
using pando::facade::Access;
namespace g = pando::graph;

namespace {

void add_stamp(program::Sequence& prog, TileId tile, const Tensor& stamp, const DebugContext& context) {
  prog.add(Access::program(
      std::make_shared<g::Program>(g::Program{context.getPathName(), g::CycleStamp{Access::view(stamp), tile}, Access::owner(stamp)})));
}

Tensor stamp_tensor(Graph& graph, unsigned tile, const std::string& name) {
  Tensor t = graph.addVariable(UNSIGNED_INT, {2}, name);
  graph.setTileMapping(t, tile);
  return t;
}

std::string join(const DebugContext& context, const char* name) {
  const std::string path = context.getPathName();
  return path.empty() ? name : path + '/' + name;
}

// The seeds of all workers, kept in device memory: {tiles, workers, 4}, the seeds of a tile on that tile.
Tensor seed_variable(Graph& graph) {
  core::GraphShared& shared = Access::shared(graph);
  const core::GraphState& state = Access::state(graph);
  const Graph top = graph.getTopLevelGraph();
  const std::vector<unsigned>& tiles = Access::state(top).tiles;
  g::View& seeds = shared.hw_seeds[state.replication];
  if (!seeds.valid()) {
    const pando::Machine& m = shared.graph.machine();
    const g::Shape shape{top.getTarget().getNumTiles(), m.workers, 4};
    seeds = shared.graph.view(shared.graph.add_variable(pando::ElementType::unsigned_int, shape, "hwSeeds", state.replication));
    for (unsigned t = 0; t < shape[0]; ++t) shared.graph.set_tile_mapping(seeds.index(t), Access::physical_tile(top, t, "hwSeeds"));
    shared.graph.set_initial_value(seeds, std::string(seeds.num_elements() * 4, '\0'));
  }
  // A virtual graph sees the seeds of its tiles.
  if (state.tiles == tiles) return Access::tensor(graph, seeds);
  std::vector<g::View> parts;
  for (const unsigned t : state.tiles) {
    const auto at = static_cast<std::size_t>(std::find(tiles.begin(), tiles.end(), t) - tiles.begin());
    const std::size_t index = tiles.empty() ? t : at;
    parts.push_back(seeds.slice(index, index + 1, 0));
  }
  return Access::tensor(graph, g::View::concat(parts, 0));
}

void check_behaviour(const Graph& graph, const Tensor& behaviour) {
  Access::view(graph, behaviour, "the floating-point behaviour");
  if (behaviour.elementType() != UNSIGNED_INT || behaviour.numElements() != graph.getTarget().getNumTiles())
    fail(ErrorKind::control_program_error, "behaviour-tensor", "a floating-point behaviour is one unsigned int per tile, not {}",
         behaviour.getDebugStr());
}

// The number of one signed char as an int.
Tensor widened(Graph& graph, const Tensor& number, program::Sequence& prog, const DebugContext& debugContext) {
  pando::facade::add_builtin_codelets(Access::shared(graph).graph.library());
  const Tensor out = graph.addVariable(INT, {}, join(debugContext, "scale"));
  graph.setTileMapping(out, 0);
  const ComputeSet cs = graph.addComputeSet(join(debugContext, "scale"));
  const VertexRef v = graph.addVertex(cs, pando::facade::kWiden, {{"in", number.flatten()[0]}, {"out", out}});
  graph.setTileMapping(v, 0);
  graph.setPerfEstimate(v, pando::facade::kWidenCycles);
  prog.add(program::Execute(cs, debugContext));
  return out;
}

}  // namespace

Tensor cycleStamp(Graph& graph, program::Sequence& prog, unsigned tile, SyncType, const DebugContext& debugContext) {
  const TileId physical = Access::physical_tile(graph, tile, "cycleStamp");
  const Tensor stamp = stamp_tensor(graph, tile, join(debugContext, "cycleStamp"));
  add_stamp(prog, physical, stamp, debugContext);
  return stamp;
}

Tensor cycleCount(Graph& graph, program::Sequence& prog, unsigned tile, SyncType, const DebugContext& debugContext) {
  const TileId physical = Access::physical_tile(graph, tile, "cycleCount");
  pando::facade::add_builtin_codelets(Access::shared(graph).graph.library());
  const Tensor begin = stamp_tensor(graph, tile, join(debugContext, "cycleCount/begin"));
  const Tensor end = stamp_tensor(graph, tile, join(debugContext, "cycleCount"));
  const ComputeSet cs = graph.addComputeSet(join(debugContext, "cycleCount/difference"));
  const VertexRef v = graph.addVertex(cs, pando::facade::kCycleDifference, {{"begin", begin}, {"end", end}});
  graph.setTileMapping(v, tile);
  graph.setPerfEstimate(v, pando::facade::kCycleDifferenceCycles);
  program::Sequence wrapped;
  add_stamp(wrapped, physical, begin, debugContext);
  wrapped.add(prog);
  add_stamp(wrapped, physical, end, debugContext);
  wrapped.add(program::Execute(cs, debugContext));
  prog = wrapped;
  return end;
}

Tensor cycleCount(Graph& graph, program::Sequence& prog, unsigned tile, const char* debugPrefix) {
  return cycleCount(graph, prog, tile, SyncType::INTERNAL, debugPrefix);
}
Tensor cycleCount(Graph& graph, program::Sequence& prog, unsigned tile, const std::string& debugPrefix) {
  return cycleCount(graph, prog, tile, debugPrefix.c_str());
}

void setFloatingPointBehaviour(Graph&, program::Sequence&, const FloatingPointBehaviour&, const DebugContext&) {}
void setFloatingPointBehaviour(Graph& graph, program::Sequence&, const Tensor& behaviour, const DebugContext&) {
  check_behaviour(graph, behaviour);
}
void setFloatingPointBehaviourOnTile(Graph& graph, program::Sequence&, const FloatingPointBehaviour&, unsigned tile, const DebugContext&) {
  Access::physical_tile(graph, tile, "setFloatingPointBehaviourOnTile");
}
Tensor getAndModifyFloatingPointBehaviour(Graph& graph, program::Sequence&, const FloatingPointBehaviour&, const FloatingPointBehaviour&,
                                          const DebugContext& debugContext) {
  const unsigned tiles = graph.getTarget().getNumTiles();
  const Tensor t = graph.addConstant(UNSIGNED_INT, {tiles}, 0u, join(debugContext, "floatingPointBehaviour"));
  for (unsigned i = 0; i < tiles; ++i) graph.setTileMapping(t[i], i);
  return t;
}
void setStochasticRounding(Graph&, program::Sequence&, bool, const DebugContext&) {}
void setStochasticRoundingOnTile(Graph& graph, program::Sequence&, bool, unsigned tile, const DebugContext&) {
  Access::physical_tile(graph, tile, "setStochasticRoundingOnTile");
}

Tensor getHwSeeds(Graph& graph, program::Sequence& prog, const DebugContext& debugContext) {
  const Tensor seeds = seed_variable(graph);
  const Tensor copy = graph.clone(seeds, join(debugContext, "hwSeeds"));
  prog.add(program::Copy(seeds, copy, false, debugContext));
  return copy;
}

void setHwSeeds(Graph& graph, const Tensor& hwSeeds, program::Sequence& prog, const DebugContext& debugContext) {
  Access::view(graph, hwSeeds, "the seeds of setHwSeeds");
  const Tensor seeds = seed_variable(graph);
  if (hwSeeds.shape() != seeds.shape())
    fail(ErrorKind::control_program_error, "seeds-shape", "setHwSeeds: the seeds have shape {}, expected {}", hwSeeds.shapeToString(),
         seeds.shapeToString());
  prog.add(program::Copy(hwSeeds, seeds, false, debugContext));
}

Tensor createConstantMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, int scale, const DebugContext& debugContext) {
  const unsigned char binary = QuarterMetadata(format, scale).getBinary();
  const Tensor t = graph.addConstant(QUARTER_METADATA, {}, binary, join(debugContext, "metadata"));
  graph.setTileMapping(t, 0);
  return t;
}

Tensor createVariableMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, int scale, const DebugContext& debugContext) {
  const unsigned char binary = QuarterMetadata(format, scale).getBinary();
  const Tensor t = graph.addVariable(QUARTER_METADATA, {}, join(debugContext, "metadata"));
  graph.setTileMapping(t, 0);
  graph.setInitialValue(t, binary);
  return t;
}

Tensor createVariableMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, int scale, program::Sequence& prog,
                                    const DebugContext& debugContext) {
  const Tensor t = createVariableMetadataTensor(graph, format, scale, debugContext);
  prog.add(program::Copy(createConstantMetadataTensor(graph, format, scale, debugContext), t, false, debugContext));
  return t;
}

Tensor createVariableMetadataTensor(Graph& graph, const QuarterMetadata::Format& format, const Tensor& scale, program::Sequence& prog,
                                    const DebugContext& debugContext) {
  constexpr int kLeast = -32, kGreatest = 31;
  Access::view(graph, scale, "the scale of createVariableMetadataTensor");
  if (scale.elementType() == SIGNED_CHAR && scale.numElements() == 1)
    return createVariableMetadataTensor(graph, format, widened(graph, scale, prog, debugContext), prog, debugContext);
  std::vector<unsigned char> binaries;
  for (int s = kLeast; s <= kGreatest; ++s) binaries.push_back(QuarterMetadata(format, s).getBinary());
  const Tensor all =
      graph.addConstant<unsigned char>(QUARTER_METADATA, {binaries.size()}, binaries, join(debugContext, "metadataOfScales"));
  const Tensor t = graph.addVariable(QUARTER_METADATA, {}, join(debugContext, "metadata"));
  graph.setTileMapping(all, 0);
  graph.setTileMapping(t, 0);
  std::vector<std::pair<std::int32_t, program::Program>> cases;
  for (int s = kLeast; s <= kGreatest; ++s)
    cases.push_back({s, program::Copy(all[static_cast<std::size_t>(s - kLeast)], t, false, debugContext)});
  prog.add(program::Switch::switchWithBoundsChecking(scale, cases, debugContext));
  return t;
}

}  // namespace poplar

namespace pando {

using facade::Access;

void set_image(poplar::Graph& graph, poplar::StringRef name, const void* data, std::size_t size) {
  if (!data && size > 0) fail(ErrorKind::poplar_error, "null-image", "set_image: {} bytes at a null pointer", size);
  auto& images = Access::shared(graph).graph.images;
  std::string bytes(static_cast<const char*>(data), size);
  for (auto& image : images)
    if (image.first == name.cloneAsString()) {
      image.second = std::move(bytes);
      return;
    }
  images.emplace_back(name.cloneAsString(), std::move(bytes));
}

void reset_tile(poplar::Engine& engine, unsigned tile, unsigned replica) {
  const poplar::core::EngineState& s = Access::idle(engine);
  exec::Runner& runner = s.loaded();
  const tile::Program& program = *s.executable->program;
  if (tile >= program.machine.tiles())
    fail(ErrorKind::invalid_tile_mapping, "tile-range", "reset_tile: there is no tile {}; there are {}", tile, program.machine.tiles());
  if (replica >= s.replicas())
    fail(ErrorKind::graph_replication_error, "replica-range", "reset_tile: there is no replica {}; there are {}", replica, s.replicas());
  runner.reset_tile(replica, TileId(tile));
}

Channel add_channel(poplar::Graph& graph, const poplar::Type& type, std::size_t elements, unsigned capacity,
                    const poplar::DebugContext& debugContext) {
  const std::string name = debugContext.getPathName();
  graph::Graph& g = Access::shared(graph).graph;
  return Channel(g.add_channel({name.empty() ? "channel" : name, Access::element_type(type), elements, capacity}).value, g.serial());
}

namespace {

void check_channel(const Channel& channel, const poplar::Tensor& tensor, const char* what) {
  Access::view(tensor, what);
  if (channel.graph() == 0 || channel.graph() != Access::owner(tensor))
    fail(ErrorKind::control_program_error, "foreign-channel", "{}: the channel is not of the tensor's graph; add_channel makes one", what);
}

}  // namespace

poplar::program::Program send(const Channel& channel, const poplar::Tensor& source, const poplar::DebugContext& debugContext) {
  check_channel(channel, source, "send");
  return Access::program(std::make_shared<graph::Program>(
      graph::Program{debugContext.getPathName(), graph::Send{graph::ChannelId(channel.number()), Access::view(source)}, channel.graph()}));
}

poplar::program::Program receive(const Channel& channel, const poplar::Tensor& destination, const poplar::DebugContext& debugContext) {
  check_channel(channel, destination, "receive");
  return Access::program(std::make_shared<graph::Program>(graph::Program{
      debugContext.getPathName(), graph::Receive{graph::ChannelId(channel.number()), Access::view(destination)}, channel.graph()}));
}

void set_tile_group(poplar::Graph& graph, unsigned tile, bool io) {
  Access::shared(graph).graph.set_tile_group(Access::physical_tile(graph, tile, "set_tile_group"), io);
}

SourceScope::SourceScope(poplar::Graph& graph, const char* file, unsigned line) : site_(&Access::shared(graph).site), outer_(*site_) {
  if (line > 0) *site_ = Access::shared(graph).graph.call_site(file, line);
}

SourceScope::~SourceScope() { *site_ = outer_; }

}  // namespace pando
