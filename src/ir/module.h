// A module: graphs of ops on values, and what they share: types, streams of the host, remote buffers, variables.
//
// Values are immutable. An op that modifies an operand (add_, copy_var_update_) has the new contents as a result: a new version. So every
// graph is a pure function of its inputs, but for the effects that rows of the op table declare (streams, remote rows, prints, code loads).
// A graph says beside its outputs what each input has become (`updated_inputs`): the input itself where nothing modified it. A call that
// lets modifications through has those updated inputs as further results, after the graph's outputs.
//
// Order is the list of a graph's ops: always topological, always a legal schedule. What a user demanded beside it (in_sequence) are edges
// (`after`); effects on the same stream, buffer or print order themselves by the list.
//
// Everything is an array indexed by a typed id. References that this class hands out end with the next change of the module; those to
// types and attributes last as long as the module.
#pragma once

#include "base/ids.h"
#include "ir/host_tensor.h"
#include "ir/replica_grouping.h"
#include "ir/types/attributes.h"
#include "ir/types/ids.h"
#include "ir/types/type.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pando::ir {

struct OpRow;

// Which program an op belongs to: the main one, or one that runs when variables come or go.
enum class Context : std::uint8_t { normal, accumulate_outer, weights_from_host, weights_to_host };

struct Op {
  OpKind kind;
  Context context = Context::normal;
  // The op's underscore form: result 0 is the new version of operand 0, where the row does not always modify.
  bool in_place = false;
  // Made by the builder (a view taken again from a new version), not by the user.
  bool implicit = false;
  bool erased = false;
  std::uint32_t operand_begin = 0, result_begin = 0, graph_begin = 0;
  std::uint32_t operand_count = 0, result_count = 0, graph_count = 0;
  AttributesId attributes;
  LocationId location;
  NameId name;
  GraphId graph;
};

struct Value {
  TypeId type;
  // None for inputs of graphs.
  OpId producer;
  // Which result of the producer, or which input of the graph.
  std::uint32_t index = 0;
  NameId name;
  GraphId graph;
};

struct Graph {
  std::string name;
  std::vector<ValueId> inputs, outputs;
  // One for each input: what it has become at the end.
  std::vector<ValueId> updated_inputs;
  // One for each input: calls hand its modifications back (popxl.TensorByRef).
  std::vector<bool> by_ref;
  std::vector<OpId> ops;
  // (first, then): the user's order beside the data's.
  std::vector<std::pair<OpId, OpId>> after;
  // Set by autodiff and others that make graphs: "Gradient graph of ...". Free text, may be empty.
  std::string note;
};

struct Location {
  std::string file, function;
  std::uint32_t line = 0;
};

struct HostStream {
  enum class Direction : std::uint8_t { host_to_device, device_to_host };
  std::string name;
  Direction direction = Direction::host_to_device;
  DType dtype = DType::float32;
  Shape shape;
};

struct RemoteBuffer {
  std::int64_t number = 0;  // from 1, as users see it
  DType dtype = DType::float32;
  Shape shape;
  std::int64_t entries = 1;
  Shape meta_shape;
};

enum class Retrieval : std::uint8_t { one_per_group, all_replicas };

// A variable: state that lives from run to run. On chip it is an input of the main graph; its final is what the next run begins with.
// Remote, it is a row of a buffer.
struct State {
  std::string name;
  TypeId type;  // of one replica's tensor
  // On the host: (groups, shape) where there is more than one group. None: zeros, unless somebody sets it before it runs.
  BlobId data;
  ReplicaGrouping grouping;
  Retrieval retrieval = Retrieval::one_per_group;
  // On chip: which input of the main graph.
  std::optional<std::uint32_t> input;
  // Remote: the row.
  BufferId buffer;
  std::int64_t row = 0;
  // Remote and split over the members of each group: the shape of the whole tensor is data's, type is one shard's.
  bool sharded = false;
};

class Module {
 public:
  explicit Module(std::int64_t replicas = 1) : replicas_(replicas) {}

  // Interning changes nothing that anybody could see: rules of types do it, too.
  TypeId type(const Type& t) const { return types_.intern(t); }
  const Type& type(TypeId t) const { return types_[t]; }
  const Type& type_of(ValueId v) const { return types_[values_[v].type]; }
  const TypeTable& types() const { return types_; }

  GraphId add_graph(std::string name);
  ValueId add_input(GraphId graph, const Type& type, std::string_view name, bool by_ref = false);
  void add_output(GraphId graph, ValueId value);
  // Appends an op whose result types are given; most callers want infer_and_add of ir/semantics/infer.h.
  OpId add_op(GraphId graph, OpKind kind, std::span<const ValueId> operands, const Attributes& attributes, std::span<const GraphId> graphs,
              std::span<const TypeId> results, std::string_view name = {});
  // The same for whoever adds millions of ops: everything is interned already, and `name` names all results. Names need not be unique then:
  // the text numbers those that are not.
  OpId append_op(GraphId graph, OpKind kind, std::span<const ValueId> operands, AttributesId attributes, std::span<const TypeId> results,
                 NameId name);
  AttributesId intern(const Attributes& attributes) { return attributes_.intern(attributes); }
  // Room for so many more.
  void reserve(std::size_t ops, std::size_t operands, std::size_t results);
  // Appends a result to an op that is already there: calls grow with the outputs of what they call. `position`: before which result.
  // Named after the op unless a name is given.
  ValueId add_result(OpId op, TypeId type, std::uint32_t position, std::string_view name = {});
  // The same for several results of consecutive positions; returns the first of their values, which are consecutive too.
  ValueId add_results(OpId op, std::span<const TypeId> types, std::uint32_t position, std::string_view name = {});
  void set_operand(OpId op, std::uint32_t index, ValueId value);
  void append_operand(OpId op, ValueId value);
  void set_attributes(OpId op, const Attributes& attributes) { ops_[op].attributes = attributes_.intern(attributes); }
  void set_type(ValueId value, const Type& t) { values_[value].type = types_.intern(t); }
  // Takes an op out of its graph's list. Its results must be unused (the verifier reports uses).
  void erase(OpId op);

  std::size_t graph_count() const { return graphs_.size(); }
  std::size_t op_count() const { return ops_.size(); }
  std::size_t value_count() const { return values_.size(); }
  Graph& graph(GraphId g) { return graphs_[g]; }
  const Graph& graph(GraphId g) const { return graphs_[g]; }
  Op& op(OpId o) { return ops_[o]; }
  const Op& op(OpId o) const { return ops_[o]; }
  const Value& value(ValueId v) const { return values_[v]; }
  // The first graph is the main graph.
  GraphId main_graph() const { return GraphId(0); }
  std::optional<GraphId> graph_named(std::string_view name) const;

  std::span<const ValueId> operands(OpId o) const { return {operand_pool_.data() + ops_[o].operand_begin, ops_[o].operand_count}; }
  std::span<const ValueId> results(OpId o) const { return {result_pool_.data() + ops_[o].result_begin, ops_[o].result_count}; }
  std::span<const GraphId> graphs(OpId o) const { return {graph_pool_.data() + ops_[o].graph_begin, ops_[o].graph_count}; }
  ValueId operand(OpId o, std::size_t i) const { return operands(o)[i]; }
  ValueId result(OpId o, std::size_t i = 0) const { return results(o)[i]; }
  const Attributes& attributes(OpId o) const { return attributes_[ops_[o].attributes]; }
  const OpRow& row(OpId o) const;

  NameId name(std::string_view text);
  std::optional<NameId> find_name(std::string_view text) const;
  const std::string& text(NameId n) const { return names_[n.index()]; }
  const std::string& name_of(ValueId v) const { return names_[values_[v].name.index()]; }
  const std::string& name_of(OpId o) const { return names_[ops_[o].name.index()]; }
  void set_name(ValueId v, NameId n) { values_[v].name = n; }
  // A name for a new value of a graph: `wanted`, or wanted__t<n> where it is taken.
  std::string unique_name(GraphId graph, std::string_view wanted);
  NameId unique_name_id(GraphId graph, std::string_view wanted);

  LocationId location(const Location& l);
  const Location& location(LocationId l) const { return locations_[l]; }
  // "file:line", or empty.
  std::string location_text(OpId o) const;
  // What ops that are added from now on carry.
  void set_current_location(LocationId l) { current_location_ = l; }
  LocationId current_location() const { return current_location_; }
  void set_current_context(Context c) { current_context_ = c; }

  BlobId add_blob(HostTensor data);
  const HostTensor& blob(BlobId b) const { return blobs_[b]; }
  void set_blob(BlobId b, HostTensor data) { blobs_[b] = std::move(data); }
  std::size_t blob_count() const { return blobs_.size(); }

  HostStreamId add_stream(HostStream s);
  const HostStream& stream(HostStreamId s) const { return streams_[s]; }
  std::size_t stream_count() const { return streams_.size(); }
  BufferId add_buffer(RemoteBuffer b);
  RemoteBuffer& buffer(BufferId b) { return buffers_[b]; }
  const RemoteBuffer& buffer(BufferId b) const { return buffers_[b]; }
  std::size_t buffer_count() const { return buffers_.size(); }
  StateId add_state(State s);
  // Where the user's program made it; none: not known.
  void set_location(StateId s, LocationId l) { state_locations_[s] = l; }
  LocationId location_of(StateId s) const {
    const auto it = state_locations_.find(s);
    return it != state_locations_.end() ? it->second : LocationId();
  }
  State& state(StateId s) { return states_[s]; }
  const State& state(StateId s) const { return states_[s]; }
  std::size_t state_count() const { return states_.size(); }

  std::int64_t replicas() const { return replicas_; }
  void set_replicas(std::int64_t n) { replicas_ = n; }

 private:
  std::int64_t replicas_ = 1;
  mutable TypeTable types_;
  AttributesTable attributes_;
  DenseMap<GraphId, Graph> graphs_;
  DenseMap<OpId, Op> ops_;
  DenseMap<ValueId, Value> values_;
  std::vector<ValueId> operand_pool_, result_pool_;
  std::vector<GraphId> graph_pool_;
  std::deque<std::string> names_;  // by NameId; references to a name last while others are added
  std::unordered_map<std::string, NameId> name_ids_;
  // Names in use by graph, with the next number to try.
  std::vector<std::unordered_map<NameId, std::uint32_t>> used_names_;
  DenseMap<LocationId, Location> locations_;
  std::unordered_map<std::string, LocationId> location_ids_;
  LocationId current_location_;
  std::map<StateId, LocationId> state_locations_;
  Context current_context_ = Context::normal;
  DenseMap<BlobId, HostTensor> blobs_;
  DenseMap<HostStreamId, HostStream> streams_;
  DenseMap<BufferId, RemoteBuffer> buffers_;
  DenseMap<StateId, State> states_;
};

}  // namespace pando::ir
