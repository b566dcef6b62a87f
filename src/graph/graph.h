// The graph level: variables mapped over tiles, vertices in compute sets, functions, FIFOs, remote buffers. What
// poplar::Graph, a thin facade, holds.
//
// Meaning of a compute set: every vertex reads its operands as they were when the compute set began and writes its outputs; an
// element written by two vertices, or written by one and read by another, of one compute set is an error (graph_cycle_error).
// Where one vertex connects the same element as input and as output, it computes in place.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "codelet/library.h"
#include "graph/program.h"
#include "graph/views/tile_map.h"
#include "graph/views/view.h"
#include "machine/machine.h"

namespace pando::graph {

using ReplicationId = Id<struct ReplicationTag>;

// A replicated graph within a graph: what is added to it exists once on each of `factor` equal shares of `tiles`. Things of it are
// written down once, on the tiles of the first share; expand_replicas (graph/replicas.h) makes the copies before a program is compiled.
struct Replication {
  Machine machine;  // of one replica
  unsigned factor = 1;
  std::vector<TileId> tiles;  // share after share

  std::size_t share() const { return tiles.size() / factor; }
};

struct Variable {
  std::string name;
  ElementType type = ElementType::float_;
  Shape shape;
  std::uint64_t elements = 0;
  bool constant = false;
  bool replica_index = false;  // a constant whose value differs per replica
  std::string initial;         // initial bytes (constants; setInitialValue): empty, or elements * size_of(type)
  TileMap mapping;
  ReplicationId replication;  // valid: one on each replica
  VariableId replica_of;      // valid: this is replica `replica`'s of that variable, and lies where that lies
  unsigned replica = 0;
};

// One connected edge field. A 1-D field has one row; a 2-D field has one view per row.
struct Edge {
  std::uint16_t field = 0;  // index into Codelet::fields
  bool connected = false;
  bool sized = false;      // by setFieldSize or by a connection of the whole field: rows that are connected one by one add none
  std::uint32_t site = 0;  // of the last connect: Graph::call_site
  std::vector<View> rows;
};
struct StateValue {
  std::uint16_t field = 0;
  std::string bytes;  // one scalar, or the elements of a state vector
};
struct PerfEstimate {
  std::uint64_t cycles = 0;
  std::uint64_t flops = 0;
};

struct Vertex {
  CodeletId codelet;
  ComputeSetId compute_set;
  TileId tile;                    // invalid until mapped
  std::vector<Edge> edges;        // in field order, edge fields only, one entry per edge field of the codelet
  std::vector<StateValue> state;  // set ones only, sorted by field
  std::optional<PerfEstimate> estimate;
  ReplicationId replication;  // valid: one on each replica
};

struct ComputeSet {
  std::string name;
  std::vector<VertexId> vertices;
};

enum class ReplicatedFifo { replicate, broadcast };
struct Fifo {
  std::string handle;
  bool to_device = true;
  ElementType type = ElementType::float_;
  std::uint64_t elements = 0;
  ReplicatedFifo mode = ReplicatedFifo::replicate;
  unsigned buffering_depth = 1;
  ReplicationId replication;  // valid: each replica has its own
};
struct RemoteBuffer {
  std::string handle;
  ElementType type = ElementType::float_;
  std::uint64_t elements = 0;  // of one row
  std::uint64_t repeats = 1;   // rows
  ReplicationId replication;   // valid: each replica has its own
};
struct HostFunction {
  std::string handle;
  std::vector<std::pair<ElementType, std::uint64_t>> inputs, outputs;
  ReplicationId replication;  // valid: each replica calls it
};
struct Function {
  std::string name;
  ProgramPtr body;
  bool in_streaming_memory = false;  // has a FunctionBuffer: code is loaded by LoadFunction and dropped after its last call
};
// Blocks of tensors from one stream to another (include/pando/transfer.hpp).
struct Channel {
  std::string name;
  ElementType type = ElementType::float_;
  std::uint64_t elements = 0;  // of a block
  unsigned capacity = 0;       // blocks that are sent and not received
};
struct HostHandle {
  std::string name;
  View tensor;
  bool readable = false, writable = false;
};

// What a `connect` names, and where in the user's source it stands.
struct FieldRef {
  VertexId vertex;
  std::string field;
  std::optional<std::size_t> row;
  std::uint32_t site = 0;  // Graph::call_site; 0: not known
};

class Graph {
 public:
  Graph(Machine machine, unsigned replication_factor);

  // Differs from every other graph's of the process, and is never 0. For comparisons only.
  std::uint32_t serial() const { return serial_; }
  const Machine& machine() const { return machine_; }
  // Replicas of the graph; with a replication: of that in all of them.
  unsigned replication_factor(ReplicationId of = {}) const { return replication_ * (of.valid() ? replications_[of].factor : 1); }
  // `tiles`: none twice, a multiple of `factor`.
  ReplicationId add_replication(Replication replication);
  const DenseMap<ReplicationId, Replication>& replications() const { return replications_; }
  // Where replica `replica` has what the first one has on `tile`. Throws graph_replication_error if the first one has not that tile.
  TileId tile_of_replica(ReplicationId replication, unsigned replica, TileId tile) const;
  // The replication that all of a tensor's variables belong to; invalid if none has one. Throws graph_replication_error for a mixture.
  ReplicationId replication_of(const View& tensor) const;
  // What is `tensor`, of a replication, on that replica.
  View on_replica(const View& tensor, unsigned replica);
  Library& library() { return library_; }
  const Library& library() const { return library_; }

  // With a replication: of each of its replicas.
  VariableId add_variable(ElementType type, const Shape& shape, std::string name, ReplicationId replication = {});
  // `values` has elements * size_of(type) bytes.
  VariableId add_constant(ElementType type, const Shape& shape, std::string values, std::string name, ReplicationId replication = {});
  VariableId add_replica_index(std::string name, ReplicationId replication = {});
  View view(VariableId v) const;
  void set_initial_value(const View& tensor, std::string_view bytes);

  // Throws invalid_tile_mapping for a tile outside the machine, and for more pieces than fit into the host's memory.
  void set_tile_mapping(const View& tensor, TileId tile);
  // Intervals of the tensor's flattened elements, none twice.
  void set_tile_mapping(const View& tensor, const std::vector<MappedInterval>& mapping);
  // In the order of the tensor's elements, neighbours on one tile joined; elements on no tile are absent.
  std::vector<MappedInterval> tile_mapping(const View& tensor, bool* complete) const;

  ComputeSetId add_compute_set(std::string name);
  // Throws unknown_vertex_type, with similar names.
  VertexId add_vertex(ComputeSetId cs, std::string_view codelet_name, ReplicationId replication = {});
  void set_tile_mapping(VertexId v, TileId tile);
  // A number for a line of the user's source, for messages; site_text gives "file:line" back, "" for 0.
  std::uint32_t call_site(const char* file, unsigned line);
  std::string site_text(std::uint32_t site) const;
  SourceLine site(std::uint32_t site) const;  // not of 0
  // Throw unknown_field, graph_connection_error, type_error: message names vertex type, field, shapes.
  void connect(const FieldRef& field, const View& tensor);
  void connect(const FieldRef& field, const std::vector<View>& tensors);
  // Connects an Input edge to a new constant on the vertex's tile (mapped when the vertex is).
  void connect_constant(const FieldRef& field, ElementType type, std::string bytes, std::size_t count);
  void set_initial_value(const FieldRef& field, ElementType type, std::string bytes, std::size_t count);
  void set_field_size(const FieldRef& field, std::size_t size);
  std::size_t field_size(const FieldRef& field) const;
  void set_perf_estimate(VertexId v, PerfEstimate estimate);

  FifoId add_fifo(Fifo fifo);
  RemoteBufferId add_remote_buffer(RemoteBuffer buffer);
  HostFunctionId add_host_function(HostFunction function);
  ChannelId add_channel(Channel channel);
  FunctionId add_function(ProgramPtr body, std::string name);
  void add_host_handle(std::string name, const View& tensor, bool read, bool write);
  // Tiles whose group is said, not inferred (contract 2): true = IO, false = compute.
  void set_tile_group(TileId tile, bool io);

  // Groups the given intervals of the flattened tensor into lists that are contiguous in one variable, ordered by variable and
  // address. An element that occurs again starts lists of its own after all others, or, with `remove_aliased`, is left out.
  // `aliases`, if given, gets per returned interval the begin of the interval that holds the same elements first (its own, if it
  // is that), and intervals are cut so that such intervals have equal length.
  std::vector<std::vector<Interval>> sorted_contiguous_regions(const View& tensor, std::span<const Interval> intervals, bool remove_aliased,
                                                               std::vector<std::size_t>* aliases) const;
  // Replaces *tensor by a 1-D permutation of its elements, in the order of the variables' elements, and permutes the others, which
  // have as many elements, in the same way.
  void reorder_to_simplify(View* tensor, std::span<View* const> others) const;
  // A tensor of the same rank of which `tensor` is a broadcast: each dimension is the shortest that repeats to it.
  View find_unbroadcast(const View& tensor) const;

  const DenseMap<VariableId, Variable>& variables() const { return variables_; }
  const DenseMap<VertexId, Vertex>& vertices() const { return vertices_; }
  const DenseMap<ComputeSetId, ComputeSet>& compute_sets() const { return compute_sets_; }
  const DenseMap<FifoId, Fifo>& fifos() const { return fifos_; }
  const DenseMap<RemoteBufferId, RemoteBuffer>& remote_buffers() const { return remote_buffers_; }
  const DenseMap<HostFunctionId, HostFunction>& host_functions() const { return host_functions_; }
  const DenseMap<ChannelId, Channel>& channels() const { return channels_; }
  const DenseMap<FunctionId, Function>& functions() const { return functions_; }
  DenseMap<FunctionId, Function>& functions() { return functions_; }
  // All but the first `kept`.
  void drop_host_handles(std::size_t kept);
  const std::vector<HostHandle>& host_handles() const { return host_handles_; }
  const std::vector<std::optional<bool>>& tile_groups() const { return tile_groups_; }
  // Initial images of reserved ranges, by name (include/pando/host.hpp).
  std::vector<std::pair<std::string, std::string>> images;

 private:
  friend class ReplicaExpansion;  // graph/replicas.cpp
  // A one-dimensional edge field.
  struct FieldKey {
    VertexId vertex;
    std::size_t field = 0;
    friend bool operator==(const FieldKey&, const FieldKey&) = default;
  };
  struct FieldKeyHash {
    std::size_t operator()(const FieldKey& k) const { return std::hash<std::size_t>()(k.vertex.index() * 64 + k.field); }
  };
  const Codelet& codelet_of(VertexId v) const { return library_[vertices_[v].codelet]; }
  const Field& field_of(const FieldRef& ref) const;
  Edge& edge_of(VertexId v, const Field& field);
  StateValue& state_of(VertexId v, const Field& field);
  const StateValue* find_state(VertexId v, const Field& field) const;
  FieldKey key_of(VertexId v, const Field& field) const { return {v, codelet_of(v).field_index(field)}; }
  std::string named(VertexId v, const Field& field) const;
  void check_tile(TileId tile, const std::string& what) const;
  void check_operand(VertexId v, const Field& field, const View& tensor) const;
  void check_sizes(VertexId v, const Field& field, const std::vector<View>& rows) const;
  void connect_row(VertexId v, const Field& field, std::size_t row, View tensor);
  void connect_element(VertexId v, const Field& field, std::size_t element, View tensor);
  VariableId push_variable(Variable variable);
  // The variable of `replicated` on a replica, new if nobody asked for it before.
  VariableId copy_of(VariableId replicated, unsigned replica);

  std::uint32_t serial_;
  Machine machine_;
  unsigned replication_ = 1;
  Library library_;
  DenseMap<VariableId, Variable> variables_;
  DenseMap<VertexId, Vertex> vertices_;
  DenseMap<ComputeSetId, ComputeSet> compute_sets_;
  DenseMap<FifoId, Fifo> fifos_;
  DenseMap<RemoteBufferId, RemoteBuffer> remote_buffers_;
  DenseMap<HostFunctionId, HostFunction> host_functions_;
  DenseMap<ChannelId, Channel> channels_;
  DenseMap<FunctionId, Function> functions_;
  std::vector<HostHandle> host_handles_;
  std::unordered_map<std::string, std::vector<std::size_t>> handles_by_name_;  // looked up, never iterated
  std::vector<std::optional<bool>> tile_groups_;
  DenseMap<ReplicationId, Replication> replications_;
  std::unordered_map<VariableId, std::vector<VariableId>> copies_;  // by replica, invalid ones not made; looked up, never iterated
  struct CallSite {
    const char* key = nullptr;  // the pointer that came in, to recognise it; never read
    std::string file;
    unsigned line = 0;
  };
  std::vector<CallSite> sites_;
  // Elements that are connected one by one; joined into the vertex when the last one comes. Looked up, never iterated.
  std::unordered_map<FieldKey, std::vector<View>, FieldKeyHash> pending_;
  // Constants of connect_constant, which go where their vertex goes: looked up by vertex, never iterated.
  std::unordered_multimap<VertexId, VariableId> vertex_constants_;
};

// The text of the graph level (docs/level/graph.md). Deterministic; `only_tile` restricts vertices and mappings to one tile.
std::string print(const Graph& graph, std::span<const ProgramPtr> programs, std::optional<TileId> only_tile = std::nullopt);

// Throws the documented error for the first fault found: unmapped variable or vertex (invalid_tile_mapping), unconnected field
// (graph_connection_error), overlapping writes in a compute set (graph_cycle_error), recursion (graph_recursion_error) ...
void verify(const Graph& graph, std::span<const ProgramPtr> programs);

}  // namespace pando::graph
