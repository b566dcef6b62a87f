// Graph: construction, codelets, virtual graphs.
#include "poplar/Graph.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "base/version.h"
#include "codelet/store/gp_file.h"
#include "facade/engine/engine_options.h"
#include "facade/state/state.h"
#include "facade/state/target_state.h"

namespace pando::facade {

TileId Access::physical_tile(const poplar::Graph& g, unsigned tile, const std::string& what) {
  const poplar::core::GraphState& s = state(g);
  const std::size_t tiles = s.tiles.empty() ? s.shared->graph.machine().tiles() : s.tiles.size();
  if (tile >= tiles)
    fail(ErrorKind::invalid_tile_mapping, "tile-range", "{}: there is no tile {}; {} has {} tiles", what, tile,
         s.tiles.empty() ? "the target" : "the virtual graph", tiles);
  return TileId(s.tiles.empty() ? tile : s.tiles[tile]);
}

unsigned Access::replication_factor(const poplar::Graph& g) { return shared(g).graph.replication_factor(replication(g)); }

}  // namespace pando::facade

namespace poplar {

using core::GraphShared;
using core::GraphState;
using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;
using pando::graph::View;

namespace {

Target one_replica(const Target& target, unsigned replicas) {
  const unsigned ipus = target.getNumIPUs();
  if (replicas == 0 || ipus % replicas != 0)
    fail(ErrorKind::graph_replication_error, "replication-factor", "{} IPUs cannot be shared out to {} replicas", ipus, replicas);
  return replicas == 1 ? target : pando::facade::with_tiles(target, ipus / replicas, target.getTilesPerIPU());
}

// What one of the replicas of a replicated graph has: whole IPUs, or an equal part of one.
Target share_of(const Target& target, unsigned replicas) {
  const unsigned ipus = target.getNumIPUs(), tiles = target.getTilesPerIPU();
  if (replicas != 0 && ipus % replicas == 0) return pando::facade::with_tiles(target, ipus / replicas, tiles);
  const bool parts = replicas != 0 && replicas % ipus == 0 && tiles % (replicas / ipus) == 0;
  if (!parts)
    fail(ErrorKind::graph_replication_error, "replication-factor", "{} IPU{} of {} tiles cannot be shared out evenly to {} replicas", ipus,
         ipus == 1 ? "" : "s", tiles, replicas);
  return pando::facade::with_tiles(target, 1, tiles / (replicas / ipus));
}

std::vector<unsigned> tiles_of_first(const GraphShared& shared, pando::graph::ReplicationId id) {
  const pando::graph::Replication& r = shared.graph.replications()[id];
  std::vector<unsigned> tiles;
  for (std::size_t i = 0; i < r.share(); ++i) tiles.push_back(r.tiles[i].value);
  return tiles;
}

std::unique_ptr<GraphState> new_graph(const Target& target, unsigned replicas) {
  if (target.getNumTiles() == 0)
    fail(ErrorKind::invalid_machine_model, "empty-machine", "a graph needs a target with tiles, not {} IPUs of {} tiles",
         target.getNumIPUs(), target.getTilesPerIPU());
  const Target replica = one_replica(target, replicas);
  auto shared = std::make_shared<GraphShared>(Access::state(replica).machine, replicas);
  shared->full_target = target;
  shared->replica_target = replica;
  return std::unique_ptr<GraphState>(new GraphState{std::move(shared), replica, {}, {}});
}

bool ends_with(const std::string& name, std::string_view ending) { return std::string_view(name).ends_with(ending); }

bool is_object(const std::string& file, CodeletFileType type) {
  return type == CodeletFileType::Object || (type == CodeletFileType::Auto && (ends_with(file, ".gp") || pando::is_gp_file(file)));
}

void check_source_type(const std::string& file, CodeletFileType type) {
  const bool is_assembly = type == CodeletFileType::AsmSource || type == CodeletFileType::PreprocessedAsmSource;
  if (type == CodeletFileType::IrSource || (is_assembly && !ends_with(file, ".S")) ||
      (type == CodeletFileType::Auto && ends_with(file, ".s")))
    fail(ErrorKind::graph_program_compilation_error, "codelet-language",
         "'{}': codelets are C++, C or assembly in a file whose name ends with .S; LLVM IR is not read", file);
}

bool is_c(const std::string& file, CodeletFileType type) {
  return type == CodeletFileType::CSource || (type == CodeletFileType::Auto && ends_with(file, ".c"));
}

// Where the environment asks for checked codelets (pando.checked), sources are compiled so at once: then errors name their lines.
std::string with_checks(const std::string& flags) {
  const char* const options = std::getenv("POPLAR_ENGINE_OPTIONS");
  if (!options || std::string_view(options).find("pando.checked") == std::string_view::npos) return flags;
  return pando::facade::parse_engine_options({}, false).checked ? flags + " --checked" : flags;
}

// `diagnostics` null: they go to stderr with the exception's text.
bool add_files(GraphShared& shared, std::vector<std::string> files, CodeletFileType type, const std::string& flags,
               std::ostream* diagnostics) {
  std::string key = flags;
  for (const std::string& f : files) key += '\n' + f;
  if (shared.added_codelets.count(key)) return false;
  std::vector<std::string> sources;
  bool all_c = true;
  for (const std::string& f : files) {
    check_source_type(f, type);
    if (is_object(f, type)) {
      shared.graph.library().load_file(f);
    } else {
      sources.push_back(f);
      all_c = all_c && is_c(f, type);
    }
  }
  if (!sources.empty()) shared.graph.library().compile({std::move(sources), {}, all_c}, with_checks(flags), diagnostics);
  shared.added_codelets.insert(std::move(key));
  return true;
}

void add_text(GraphShared& shared, std::stringstream& stream, const std::string& flags, CodeletFileType type, std::ostream* diagnostics) {
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  check_source_type("stream", type);
  if (type == CodeletFileType::Object || (type == CodeletFileType::Auto && pando::is_gp(text))) {
    shared.graph.library().load_bytes(std::move(text), "stream");
    return;
  }
  std::string key = flags + "\n\n" + text;
  if (shared.added_codelets.count(key)) return;
  shared.graph.library().compile({{}, std::move(text), type == CodeletFileType::CSource}, with_checks(flags), diagnostics);
  shared.added_codelets.insert(std::move(key));
}

// The target of a virtual graph: as many IPUs as the tiles are on, if they are on each in equal number; else one.
Target virtual_target(const Target& top, const std::vector<unsigned>& tiles) {
  std::map<unsigned, unsigned> per_ipu;
  for (const unsigned t : tiles) ++per_ipu[t / top.getTilesPerIPU()];
  const auto n = static_cast<unsigned>(tiles.size());
  const auto ipus = static_cast<unsigned>(per_ipu.size());
  for (const auto& [ipu, count] : per_ipu)
    if (count * ipus != n) return pando::facade::with_tiles(top, 1, n);
  return pando::facade::with_tiles(top, ipus, n / ipus);
}

}  // namespace

StringRef versionString() {
  static const std::string text = fmt::format("{} (Pando {})", pando::sdk_version(), pando::version());
  return text;
}
StringRef packageHash() {
  static const std::string text = fmt::format("pando-{}", pando::version());
  return text;
}

Graph::Graph() : Graph(Target::createCPUTarget()) {}
Graph::Graph(const Target& target, replication_factor replicationFactor) : state_(new_graph(target, replicationFactor)) {}
Graph::Graph(const Device& device, replication_factor replicationFactor) : Graph(device.getTarget(), replicationFactor) {}
Graph::Graph(std::unique_ptr<GraphState> state) : state_(std::move(state)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

const Target& Graph::getTarget() const { return Access::state(*this).target; }
unsigned Graph::getReplicationFactor() const { return Access::replication_factor(*this); }

bool Graph::addCodelets(StringRef src, CodeletFileType type, StringRef compileFlags, StringRef) {
  return add_files(Access::shared(*this), {src.cloneAsString()}, type, compileFlags, nullptr);
}
bool Graph::addCodelets(StringRef src, CodeletFileType type, StringRef compileFlags, std::ostream& compileOutput, StringRef) {
  return add_files(Access::shared(*this), {src.cloneAsString()}, type, compileFlags, &compileOutput);
}
bool Graph::addCodelets(ArrayRef<std::string> srcs, StringRef compileFlags, StringRef) {
  return add_files(Access::shared(*this), srcs.cloneAsVector(), CodeletFileType::Auto, compileFlags, nullptr);
}
bool Graph::addCodelets(ArrayRef<std::string> srcs, StringRef compileFlags, std::ostream& compileOutput, StringRef) {
  return add_files(Access::shared(*this), srcs.cloneAsVector(), CodeletFileType::Auto, compileFlags, &compileOutput);
}
void Graph::addCodelets(std::stringstream& stream, StringRef compileFlags, CodeletFileType type, StringRef) {
  add_text(Access::shared(*this), stream, compileFlags, type, nullptr);
}
void Graph::addCodelets(std::stringstream& stream, StringRef compileFlags, std::ostream& compileOutput, CodeletFileType type, StringRef) {
  add_text(Access::shared(*this), stream, compileFlags, type, &compileOutput);
}
bool Graph::hasCodelet(StringRef vertexType) const {
  return Access::shared(*this).graph.library().find(vertexType.cloneAsString()) != nullptr;
}

Graph Graph::createVirtualGraph(const std::vector<unsigned>& perIpuTiles) {
  const unsigned ipus = getTarget().getNumIPUs(), per_ipu = getTarget().getTilesPerIPU();
  const bool all_ipus = std::all_of(perIpuTiles.begin(), perIpuTiles.end(), [&](unsigned t) { return t < per_ipu; });
  if (ipus == 1 || !all_ipus) return subgraph(perIpuTiles);
  std::vector<unsigned> tiles;
  for (unsigned ipu = 0; ipu < ipus; ++ipu)
    for (const unsigned t : perIpuTiles) tiles.push_back(ipu * per_ipu + t);
  return subgraph(tiles);
}

Graph Graph::subgraph(const std::vector<unsigned>& own_tiles) {
  std::vector<unsigned> tiles;
  std::set<unsigned> seen;
  for (const unsigned t : own_tiles) {
    tiles.push_back(Access::physical_tile(*this, t, "createVirtualGraph").value);
    if (!seen.insert(t).second)
      fail(ErrorKind::invalid_tile_mapping, "virtual-tile-twice", "createVirtualGraph: tile {} is given twice", t);
  }
  if (tiles.empty()) fail(ErrorKind::invalid_tile_mapping, "virtual-no-tiles", "createVirtualGraph: a graph needs at least one tile");
  Target target = virtual_target(Access::shared(*this).replica_target, tiles);
  const GraphState& state = Access::state(*this);
  return Graph(std::unique_ptr<GraphState>(new GraphState{state.shared, std::move(target), std::move(tiles), state.replication}));
}

Graph Graph::createVirtualGraph(unsigned numTilesPerIPU) {
  const Target& t = getTarget();
  if (numTilesPerIPU > t.getTilesPerIPU())
    fail(ErrorKind::invalid_tile_mapping, "tile-range", "createVirtualGraph: {} tiles per IPU; there are {}", numTilesPerIPU,
         t.getTilesPerIPU());
  std::vector<unsigned> tiles;
  for (unsigned ipu = 0; ipu < t.getNumIPUs(); ++ipu)
    for (unsigned i = 0; i < numTilesPerIPU; ++i) tiles.push_back(ipu * t.getTilesPerIPU() + i);
  return subgraph(tiles);
}

Graph Graph::createVirtualGraph(unsigned lowerTile, unsigned upperTile) {
  if (lowerTile >= upperTile)
    fail(ErrorKind::invalid_tile_mapping, "virtual-no-tiles", "createVirtualGraph: the range [{}, {}) has no tiles", lowerTile, upperTile);
  Access::physical_tile(*this, upperTile - 1, "createVirtualGraph");  // before as many are listed as somebody asked for
  std::vector<unsigned> tiles(upperTile - lowerTile);
  std::iota(tiles.begin(), tiles.end(), lowerTile);
  return subgraph(tiles);
}

Graph Graph::createReplicatedGraph(unsigned replicationFactor) {
  GraphShared& shared = Access::shared(*this);
  const GraphState& state = Access::state(*this);
  if (replicationFactor == 1)
    return Graph(std::unique_ptr<GraphState>(new GraphState{state.shared, state.target, state.tiles, state.replication}));
  const Target replica = share_of(state.target, replicationFactor);
  std::vector<pando::TileId> tiles;
  unsigned factor = replicationFactor;
  if (state.replication.valid()) {
    const pando::graph::Replication& outer = shared.graph.replications()[state.replication];
    if (state.tiles.size() != outer.share())
      fail(ErrorKind::graph_replication_error, "replicated-virtual",
           "createReplicatedGraph({}) of a virtual graph of a replicated graph: make it of the whole replicated graph", replicationFactor);
    tiles = outer.tiles;
    factor *= outer.factor;
  } else {
    for (unsigned t = 0; t < state.target.getNumTiles(); ++t) tiles.push_back(Access::physical_tile(*this, t, "createReplicatedGraph"));
  }
  const pando::graph::ReplicationId id = shared.graph.add_replication({Access::state(replica).machine, factor, std::move(tiles)});
  shared.one_of_replicas[id] = replica;
  return Graph(std::unique_ptr<GraphState>(new GraphState{state.shared, replica, tiles_of_first(shared, id), id}));
}

Tensor Graph::getNonReplicatedTensor(const Tensor& t) const {
  const View& view = Access::view(*this, t, "the tensor of getNonReplicatedTensor");
  pando::graph::Graph& g = Access::shared(*this).graph;
  const pando::graph::ReplicationId id = g.replication_of(view);
  if (!id.valid()) {
    if (g.replication_factor() == 1) return t.expand({0});
    fail(ErrorKind::graph_replication_error, "other-replicas-tensor",
         "getNonReplicatedTensor: {} is of no replicated graph that createReplicatedGraph made; one of the {} replicas of an executable "
         "cannot name another one's tensor",
         t.getDebugStr(), g.replication_factor());
  }
  if (t.elementType() == QUARTER && t.hasMetadata() && g.replication_of(Access::view(t.getMetadata())).valid())
    fail(ErrorKind::graph_replication_error, "other-replicas-metadata",
         "getNonReplicatedTensor: {} has metadata of its own on each replica; only quarters with metadata of the whole graph have one "
         "tensor",
         t.getDebugStr());
  std::vector<View> parts;
  pando::graph::Shape shape = view.shape();
  shape.insert(shape.begin(), 1);
  for (unsigned r = 0; r < g.replications()[id].factor; ++r) parts.push_back(g.on_replica(view, r).reshape(shape));
  return Access::tensor(Access::state(t), View::concat(parts, 0));
}

// Of a replicated graph: the part of it that is on all its tiles.
Graph Graph::getTopLevelGraph() {
  const GraphState& state = Access::state(*this);
  const GraphShared& shared = *state.shared;
  if (!state.replication.valid()) return Graph(std::unique_ptr<GraphState>(new GraphState{state.shared, shared.replica_target, {}, {}}));
  const pando::graph::ReplicationId id = state.replication;
  return Graph(std::unique_ptr<GraphState>(new GraphState{state.shared, shared.one_of_replicas.at(id), tiles_of_first(shared, id), id}));
}

unsigned Graph::convertVirtualTileToPhysicalTile(unsigned virtualTile) const {
  return Access::physical_tile(*this, virtualTile, "convertVirtualTileToPhysicalTile").value;
}

std::size_t Graph::getNumVertices() const { return Access::shared(*this).graph.vertices().size(); }

}  // namespace poplar
