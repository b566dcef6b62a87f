// How users write modules: tensors that have names and whose contents change.
//
// A *tensor* is what a user holds. A tensor of its own has contents: a value, and after an op that modifies it, another value (a version).
// An alias (the result of slice_, reshape_, add_) is a view of other tensors: what it holds is computed from what they hold, and modifying
// it modifies them. The builder keeps, for each tensor, the value that it holds now, and writes ops on values: the module that comes out
// has no aliases. Reading an alias after its base has changed takes the view again (an *implicit* op).
#pragma once

#include "ir/module.h"
#include "ir/op_row.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::ir {

enum class SequenceMode : std::uint8_t { ordered, unordered, pass };

class Builder {
 public:
  enum class TensorKind : std::uint8_t { plain, variable, constant };

  struct Tensor {
    GraphId graph;
    // Without the graph's name; with name scopes.
    NameId name;
    TypeId type;
    TensorKind kind = TensorKind::plain;
    // What it holds, as of `stamp`.
    ValueId value;
    std::uint64_t stamp = 0;
    // Of a tensor of its own: how often it was modified.
    std::uint64_t version = 0;
    // Of an alias: of what, and by which view (an invalid kind: the whole of it).
    std::vector<TensorId> bases;
    OpKind view;
    AttributesId view_attributes;
    // Of a variable; of a remote variable there is no value.
    StateId state;
    // The value it began with: the op (or input) that made it.
    ValueId first_value;
  };

  explicit Builder(std::int64_t replicas = 1);

  Module& module() { return module_; }
  const Module& module() const { return module_; }

  // --- graphs
  GraphId create_graph(std::string name);
  TensorId add_input(GraphId graph, const Type& type, std::string_view name, bool by_ref = false);
  void add_output(GraphId graph, TensorId tensor);
  const std::vector<TensorId>& inputs(GraphId graph) const { return inputs_[graph.index()]; }
  const std::vector<TensorId>& outputs(GraphId graph) const { return outputs_[graph.index()]; }

  // --- tensors
  const Tensor& tensor(TensorId t) const { return tensors_[t]; }
  const Type& type_of(TensorId t) const { return module_.type(tensors_[t].type); }
  std::size_t tensor_count() const { return tensors_.size(); }
  // "<graph>/<name>", or the name alone in the main graph.
  std::string id_of(TensorId t) const;
  // The tensor that a value was made for; none for what implicit ops made.
  std::optional<TensorId> tensor_of(ValueId v) const;
  // A tensor for a value that a transform has added.
  TensorId tensor_for(ValueId v);
  // What it holds now. May add implicit ops to its graph.
  ValueId value_of(TensorId t);

  TensorId add_variable(State state, HostTensor data, std::string_view name);
  TensorId add_constant(GraphId graph, HostTensor data, std::string_view name);

  // --- ops
  // Adds an op to `graph`; its results, in the row's order. Rejects (value) a tensor of another graph.
  std::vector<TensorId> op(GraphId graph, std::string_view name, std::span<const TensorId> operands, const Attributes& attributes = {},
                           std::span<const GraphId> graphs = {}, bool in_place = false, std::string_view output_name = {});
  // The op added last.
  OpId last_op() const { return last_op_; }
  // From now on the call (or repeat) hands back what graph input `input` has become: the parent's tensor changes at the call.
  void set_modified(OpId call, std::uint32_t input);
  // The tensors that were given to an op. Empty for ops that the builder or a transform made.
  std::span<const TensorId> operand_tensors(OpId op) const;
  // Adds an output to a graph that may be called already: every call grows a result, before those that hand modifications back.
  // Rejects (popart) where a conditional carries the graph.
  void add_output_to_called(GraphId graph, ValueId value) { add_outputs_to_called(graph, {&value, 1}); }
  void add_outputs_to_called(GraphId graph, std::span<const ValueId> values);
  // Whether every op that carries the graph is a plain call.
  bool can_add_outputs(GraphId graph) const;

  // --- changing what is there: for programs that take a graph apart and build another (builder_edit.cpp)

  // Takes an op out. Where it made a new version of an operand, the old one is back; another op that reads its results must go too, before
  // the module is used. Order that the user demanded through it stays.
  void erase(OpId op);
  // Rejects (value) a graph that is called.
  void remove_output(GraphId graph, std::size_t index);
  // Another tensor as output `index`, of the same type. Rejects (value) what is not so.
  void set_output(GraphId graph, std::size_t index, TensorId tensor);
  // Appends an operand to a call or repeat of a graph that got a further input: what `tensor` held before the call.
  void add_call_operand(OpId call, TensorId tensor);

  // Tensors that hold a value hold another one of the same contents from now on: a transform has put it there.
  void hold_instead(ValueId from, ValueId to);

  // Gives a tensor another name, of Module::unique_name.
  void rename(TensorId tensor, std::string_view name);

  // Brings outputs of graphs up to date with what tensors hold. Call it before anything but the builder looks at the module.
  void finish();

  // --- what ops carry that are added from now on
  void push_scope(std::string_view name) { scopes_.emplace_back(name); }
  void pop_scope() { scopes_.pop_back(); }
  const std::vector<std::string>& scopes() const { return scopes_; }
  void set_device(std::optional<std::int32_t> device) { device_ = device; }
  std::optional<std::int32_t> device() const { return device_; }
  void set_io_tiles(bool on) { io_tiles_ = on; }
  bool io_tiles() const { return io_tiles_; }
  void set_context(Context c);
  Context context() const { return context_; }
  void push_sequence(SequenceMode mode);
  void pop_sequence();

 private:
  std::uint64_t stamp_of(TensorId t) const;
  void assign(TensorId t, ValueId v);
  std::vector<ValueId> put(const Tensor& alias, ValueId piece);
  TensorId add_tensor(Tensor t);
  OpId emit(GraphId graph, std::string_view name, std::span<const ValueId> operands, const Attributes& attributes,
            std::span<const GraphId> graphs, bool in_place, bool implicit, std::string_view output_name);
  Place place() const;
  void order(GraphId graph, OpId op);
  std::vector<OpId> ops_before(const std::pair<GraphId, Context>& key) const;
  void collect_roots(TensorId t, std::vector<TensorId>& roots) const;
  void check_no_stale_reads(OpId call, TensorId parent, ValueId old_value) const;
  bool is_of_this_program(ValueId v) const;
  std::vector<OpId> carriers_of(GraphId graph) const;
  std::string scoped(std::string_view name) const;
  void carry_forward(OpId call, ValueId old_value, ValueId new_value);
  void keep_operands(OpId op, std::span<const TensorId> operands);
  std::vector<std::pair<ValueId, ValueId>> versions_of(OpId op) const;
  void replace_uses(GraphId graph, ValueId from, ValueId to);
  void roll_back(TensorId root, OpId erased, std::span<const std::pair<ValueId, ValueId>> versions);
  ValueId value_before(OpId op, TensorId root) const;

  friend class BuilderExpansion;

  struct Sequence {
    SequenceMode mode;
    // By graph and context: what the next op comes after.
    std::map<std::pair<GraphId, Context>, std::vector<OpId>> previous;
    // Of an unordered block: its ops so far.
    std::map<std::pair<GraphId, Context>, std::vector<OpId>> collected;
  };

  Module module_;
  DenseMap<TensorId, Tensor> tensors_;
  std::vector<std::vector<TensorId>> inputs_, outputs_;
  DenseMap<ValueId, TensorId> tensor_of_;
  // Operands as tensors: by op, a piece of the pool.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> operand_pieces_;
  std::vector<TensorId> operand_pool_;
  std::vector<std::string> scopes_;
  std::optional<std::int32_t> device_;
  bool io_tiles_ = false;
  Context context_ = Context::normal;
  std::vector<Sequence> sequences_;
  OpId last_op_;
};

}  // namespace pando::ir
