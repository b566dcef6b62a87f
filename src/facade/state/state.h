// What is behind the classes of include/poplar: their states, and the one door (Access) through which this module reaches them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "compile/late_values.h"
#include "graph/graph.h"
#include "graph/residents.h"
#include "machine/machine.h"
#include "poplar/Engine.hpp"
#include "poplar/Graph.hpp"
#include "poplar/PerfEstimateFunc.hpp"
#include "poplar/Target.hpp"
#include "poplar/VertexIntrospector.hpp"
#include "profile/report.h"
#include "tile/program.h"

namespace pando::exec {
class VertexWatches;
class Workers;
}  // namespace pando::exec
namespace pando::facade {
struct GraphFacts;
}

namespace poplar::core {

struct TargetState {
  TargetType type = TargetType::CPU;
  pando::Machine machine;
  std::string system;
  OptionFlags options;
  unsigned min_sync_delay = 0, max_sync_delay = 0, global_sync_cycles = 0;
  unsigned interleaved_element = 0;
  unsigned fp8_conv_units = 0, fp8_pipeline_depth = 0, fp8_load_elems = 0;
  std::vector<GlobalExchangeConstraint> constraints;
  std::vector<unsigned> element_offsets;  // derived
  std::string key;                        // all of the above as bytes: what serialize() writes, and what equality means
};

// What a graph and its virtual graphs share. Kept alive by tensors.
struct GraphShared {
  GraphShared(pando::Machine machine, unsigned replication) : graph(std::move(machine), replication) {}

  pando::graph::Graph graph;
  pando::graph::Residents residents;                              // what of it takes memory of the tiles for good
  Target full_target;                                             // of all replicas: what an engine is loaded onto
  Target replica_target;                                          // of one
  std::map<pando::graph::ReplicationId, Target> one_of_replicas;  // of each replicated graph within
  std::map<std::string, PerfEstimateFunc> estimators;             // by normalised vertex name
  std::set<std::string> added_codelets;                           // "flags\nfile", to recognise a second addition
  std::vector<pando::FunctionId> function_buffers;                // function of FunctionBuffer i
  pando::compile::LateValues late_values;                         // of LateInitCallback
  std::map<pando::graph::ReplicationId, pando::graph::View>
      hw_seeds;                       // of a replicated graph's replicas (invalid id: of all tiles), when first asked for
  bool has_runtime_codelets = false;  // built-in ones that users name
  // Where the user's program made them, by number: Graph::call_site. Of those of which that is not known nothing.
  std::map<std::uint32_t, std::uint32_t> variable_sites, compute_set_sites;
  // The line of a pando::SourceScope: what is made without a place of its own belongs to it. 0: none.
  std::uint32_t site = 0;
};

struct GraphState {
  std::shared_ptr<GraphShared> shared;
  Target target;
  std::vector<unsigned> tiles;              // physical tile of each tile of a virtual or replicated graph; empty: the top-level graph
  pando::graph::ReplicationId replication;  // of a replicated graph and its virtual graphs
};

struct TensorState {
  pando::graph::View view;
  std::shared_ptr<GraphShared> graph;
  std::shared_ptr<const TensorState> metadata;  // QUARTER only
};

struct StreamState {
  std::uint32_t graph = 0;  // graph::Graph::serial()
  pando::FifoId id;
  std::string handle;
  Type type;
  std::size_t elements = 0;
  unsigned replication = 1;
  ReplicatedStreamMode mode = ReplicatedStreamMode::REPLICATE;
  DataStreamType kind = DataStreamType::HostToDeviceFIFO;
};

struct RemoteBufferState {
  std::uint32_t graph = 0;  // graph::Graph::serial()
  pando::RemoteBufferId id;
  std::string handle;
  Type type;
  std::size_t elements = 0, repeats = 1;
  unsigned replication = 1;
  bool rearrange_on_host = false, optimise_memory = false;
};

struct DeviceState {
  unsigned id = 0;
  Target target;
  mutable bool attached = false;
  std::vector<unsigned> ipus;  // emulated IPUs of the host that it is made of
  // Whether detach() has ended the last attach(): engines that are loaded on it ask. The end of the object alone leaves them what they
  // have.
  std::shared_ptr<std::atomic<bool>> detached = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<pando::exec::Workers> workers;  // the threads of all engines on it
  std::shared_ptr<pando::exec::VertexWatches> watches;
};

struct ExecutableState {
  std::shared_ptr<const pando::tile::Program> program;
  pando::Library library;
  Target target;        // of all replicas
  OptionFlags options;  // of the engine, as compiled
  pando::profile::GraphInfo graph_info;
  std::string out_of_memory;                               // message, empty if all fits
  std::shared_ptr<const pando::facade::GraphFacts> facts;  // for reports, where one was asked for when it was compiled
};

}  // namespace poplar::core

namespace pando::facade {

struct Access {
  static constexpr poplar::Type type(ElementType t) { return poplar::Type(static_cast<unsigned char>(t)); }
  // Throws type_error for a default-constructed Type.
  static ElementType element_type(const poplar::Type& t) {
    if (t == poplar::Type()) fail(ErrorKind::type_error, "no-type", "a default-constructed Type is no element type");
    return static_cast<ElementType>(t.code_);
  }

  static poplar::Target target(std::shared_ptr<const poplar::core::TargetState> state);
  static const poplar::core::TargetState& state(const poplar::Target& t) { return *t.state_; }
  static poplar::Device device(poplar::core::DeviceState state);
  static poplar::core::DeviceState& state(const poplar::Device& d);

  // Throws poplar_error for an invalid tensor; `role` says what it was meant for.
  static const poplar::core::TensorState& state(const poplar::Tensor& t, const char* role = "this tensor");
  static const graph::View& view(const poplar::Tensor& t, const char* role = "this tensor") { return state(t, role).view; }
  static poplar::Tensor tensor(poplar::core::TensorState state);
  // The view in place of `like`'s, of the same graph and metadata.
  static poplar::Tensor tensor(const poplar::core::TensorState& like, graph::View view);

  // Throws poplar_error for a graph that was moved from.
  static poplar::core::GraphState& state(const poplar::Graph& g);
  static poplar::Graph graph(poplar::core::GraphState state);
  static poplar::core::GraphShared& shared(const poplar::Graph& g) { return *state(g).shared; }
  static graph::ReplicationId replication(const poplar::Graph& g) { return state(g).replication; }
  // Of the replicated graph, in all the machine's replicas.
  static unsigned replication_factor(const poplar::Graph& g);
  static poplar::Tensor tensor(const poplar::Graph& g, graph::View view) { return tensor({std::move(view), state(g).shared, nullptr}); }

  // Ownership (owner.cpp). A thing's owner is its graph's serial number, 0 for what belongs to no graph. Here alone things of another
  // graph are rejected (graph_connection_error, "foreign"); `role` says what the thing was meant for.
  static std::uint32_t owner(const poplar::Tensor& t) { return t.state_ ? t.state_->graph->graph.serial() : 0; }
  static std::uint32_t owner(const poplar::program::Program& p) { return p.node_ ? p.node_->graph : 0; }
  static std::uint32_t owner(poplar::ArrayRef<poplar::Tensor> tensors);
  static void check_owner(const poplar::core::GraphShared& graph, std::uint32_t owner, std::string_view role);
  static void check_owner(const poplar::Graph& graph, std::uint32_t owner, std::string_view role) {
    check_owner(shared(graph), owner, role);
  }
  // The one graph of all of them; 0 if they have none.
  static std::uint32_t joint_owner(std::initializer_list<std::uint32_t> owners, std::string_view role);
  static const graph::View& view(const poplar::Graph& g, const poplar::Tensor& t, const char* role);
  // Programs of that graph.
  static std::vector<graph::ProgramPtr> nodes(const poplar::Graph& g, poplar::ArrayRef<poplar::program::Program> programs);

  // The physical tile; throws invalid_tile_mapping if the graph has no such tile.
  static TileId physical_tile(const poplar::Graph& g, unsigned tile, const std::string& what);

  // Never null: an empty program is an empty sequence.
  static graph::ProgramPtr node(const poplar::program::Program& p);
  static std::vector<graph::ProgramPtr> nodes(poplar::ArrayRef<poplar::program::Program> programs);
  static poplar::program::Program program(std::shared_ptr<graph::Program> node);
  static std::shared_ptr<graph::Program>& slot(poplar::program::Program& p) { return p.node_; }

  static const poplar::core::StreamState& state(const poplar::DataStream& s);
  static poplar::DataStream stream(poplar::core::StreamState state);
  static const poplar::core::RemoteBufferState& state(const poplar::RemoteBuffer& b);
  static poplar::RemoteBuffer remote_buffer(poplar::core::RemoteBufferState state);

  static poplar::Module module(std::unique_ptr<poplar::core::ExecutableState> state);
  static poplar::Executable executable(std::unique_ptr<poplar::core::ExecutableState> state);
  static std::unique_ptr<poplar::core::ExecutableState>& slot(poplar::Executable& e);
  static const poplar::core::ExecutableState& state(const poplar::Executable& e);
  // Throws poplar_error for an engine that was moved from.
  static poplar::core::EngineState& state(const poplar::Engine& e);
  // The same, and for one that runs: callbacks and other threads may only stop it.
  static poplar::core::EngineState& idle(const poplar::Engine& e);

  static poplar::VertexIntrospector introspector(const poplar::core::VertexState& state);
  static poplar::FieldData field_data(std::shared_ptr<const poplar::core::FieldState> state);
};

}  // namespace pando::facade
