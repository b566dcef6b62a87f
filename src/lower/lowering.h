// The state of one lowering. Parts: lowering.cpp (graphs, ops), storage.cpp (who lies where), layout.cpp (how new variables are mapped),
// elementwise.cpp (expressions), functions.cpp (called graphs), programs.cpp (the programs and what they share with the host),
// decisions.cpp (all that as text).
#pragma once

#include "lower/analysis.h"
#include "lower/decisions.h"
#include "lower/lower.h"
#include "lower/row.h"
#include "lower/tile_loads.h"

#include <pando/host.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplin/MatMul.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pando::lower {

// What an element-wise pass reads: a value, or a tensor that a formula has made.
struct Leaf {
  ir::ValueId value;
  poplar::Tensor tensor;
};

// What a row's formula is made of.
class Formula {
 public:
  Formula(std::vector<Any> operands, std::vector<Leaf>& leaves) : operands_(std::move(operands)), leaves_(leaves) {}
  const Any& operand(std::size_t i) const { return operands_[i]; }
  Any tensor(const poplar::Tensor& t);

 private:
  std::vector<Any> operands_;
  std::vector<Leaf>& leaves_;
};

// Libraries of codelets: added when the first op needs them.
enum class Library : std::uint8_t { popops, poplin, popnn, poprand, own };

class Lowering {
 public:
  Lowering(const ir::Module& module, poplar::Graph& graph, const Options& options);
  Lowered run();

  // --- what rows ask for
  const ir::Module& module() const { return module_; }
  const Options& options() const { return options_; }
  // Of each IPU.
  std::int64_t io_tiles() const { return options_.settings.number("num_io_tiles"); }
  poplar::Graph& top_graph() { return graph_; }
  // The tiles of a place.
  poplar::Graph& graph_at(const ir::Place& place);
  poplar::Graph& graph_of(ir::OpId op);
  ir::Place place_of(ir::OpId op) const;
  poplar::program::Sequence& program() { return *program_; }
  void need(Library library);
  poplin::matmul::PlanningCache& planning() { return planning_; }
  // Of a tile's memory, for the operands of a step of a product: less where variables leave little.
  double product_share() const { return product_share_; }
  // Streams without elements are used, too, but nothing is copied.
  void use_stream(ir::HostStreamId id) { used_streams_.insert(id); }
  poplar::DataStream stream(ir::HostStreamId id);
  poplar::RemoteBuffer buffer(ir::BufferId id);

  // --- values and where they lie
  // Computes constants on demand.
  const Slot& slot(ir::ValueId v);
  bool has_slot(ir::ValueId v) const { return v.index() < slots_.size() && slots_[v].tensor.valid(); }
  void define(ir::ValueId v, Slot slot);
  Slot fresh_slot(poplar::Tensor t);
  Slot read_only_slot(poplar::Tensor t);
  // Where a value that is yet to be computed will be copied: who computes it may write there. Invalid if nothing is known.
  poplar::Tensor destination(ir::ValueId v) const;
  // Outputs of a graph that is lowered where it is called, if all that the caller does with them is to make them a variable's new contents.
  void find_destinations(ir::OpId call, ir::GraphId graph);
  // Of a product's result: the first tile of a weight whose gradient it is, or of what is updated with it. Nothing if there is none.
  std::optional<unsigned> tile_to_begin_at(ir::ValueId v);
  // Whether a concatenation becomes a tensor of its own, which its parts are written to: several products read it.
  bool is_put_together(ir::OpId concat) const;
  // That tensor. Made for the first part.
  poplar::Tensor whole_of(ir::OpId concat);
  // The part of it that a value will be, seen through the views between them. Invalid if the value becomes no such part.
  poplar::Tensor place_in_whole(ir::ValueId v, int depth = 0);
  // Storage that may be written, with the value's contents (or without).
  Slot writable(ir::ValueId v, bool keep_contents);
  // Slot of an operand whose storage may be reused for a result of this type: nobody reads it any more.
  bool is_dead_temporary(ir::ValueId v);
  // The value in the main graph's current context.
  ir::ValueId resolved(ir::ValueId v) const;
  Analysis& analysis() { return analysis_; }
  // While it lives, what is made belongs to that line of the user's program.
  SourceScope source_scope(ir::LocationId location) const;
  // Counts the reads of an op's operands down, and guards them against being overwritten while the op runs.
  void begin_op(ir::OpId op);
  void end_op() { current_.clear(); }
  // dst[i] = src[i] for all i at once. Skips what is there already.
  void assign_all(std::span<const poplar::Tensor> dst, std::span<const poplar::Tensor> src);
  // A variable of the value's type, mapped as its readers like it.
  poplar::Tensor new_tensor(ir::ValueId v);
  poplar::Tensor layout_wish(ir::ValueId v);
  poplar::Tensor linear(poplar::Graph& graph, const ir::Type& type, const std::string& name);
  poplar::Tensor place_like(ir::ValueId v, const poplar::Tensor& t, const std::string& name);
  std::string name_of(ir::ValueId v) const;

  // --- graphs
  // Lowers a graph's ops into the current program; its inputs must have slots.
  void lower_ops(ir::GraphId graph);
  struct Function {
    poplar::Function function;
    std::vector<poplar::Tensor> inputs;
    poplar::FunctionBuffer buffer;
    bool has_buffer = false;
    std::uint32_t number = 0;
    std::vector<StorageId> storages;
    std::set<std::uint32_t> calls;  // itself and all below
  };
  bool is_function(ir::GraphId g) const { return analysis_.sites(g) > 1 || analysis_.code_loaded(g); }
  Function& function(ir::GraphId g);
  // Brings values out of storage that running these graphs overwrites.
  void before_running(std::span<const ir::GraphId> graphs);
  // Runs a graph once on slots: where it is called, or as a function. Afterwards its outputs and finals have slots, until end_graph.
  void run_graph(ir::GraphId g, std::vector<Slot> inputs);
  // Whether both values' types say the same place.
  bool lie_together(ir::ValueId v, ir::ValueId w);
  // The slot of `from`; where the place of `to`, which it becomes, is another one: a copy of it there.
  Slot brought(ir::ValueId from, ir::ValueId to, Slot slot);
  // What an op gives a graph as input i.
  Slot given(ir::GraphId g, std::size_t i, ir::ValueId operand, Slot slot);
  void end_graph(ir::GraphId g);
  // Lowers `body` into a program of its own, whose steps may run any number of times.
  poplar::program::Sequence nested(const std::function<void()>& body);
  void hold(ir::ValueId v) { ++analysis_.uses(v); }
  void release(ir::ValueId v) { --analysis_.uses(v); }

 private:
  struct Storage {
    bool writable = true;
    bool temporary = false;
    std::uint32_t function = 0, scope = 0;
    std::vector<ir::ValueId> values;
  };

  void refuse_what_has_no_lowering() const;
  void refuse_types() const;
  void refuse_variables(std::int32_t device, double bytes, double memory) const;
  bool chooses_destinations() const;
  bool may_be_overwritten_early(ir::ValueId home) const;
  void make_variables();
  std::vector<ir::ValueId> in_order_of_size(std::vector<ir::ValueId> variables) const;
  void lower_op(ir::OpId op);
  void lower_context(ir::Context context, poplar::program::Sequence& program);
  // Element-wise ops that follow each other and are computed in one pass.
  struct Member {
    ir::OpId op;
    ir::ValueId result;
    Any expression;
    unsigned depth;  // how many members its expression contains, one in the other
  };
  struct Group {
    std::vector<Leaf> leaves;
    std::vector<Member> members;
    const Member* find(ir::ValueId v) const;
  };
  struct Home {
    Slot slot;
    std::size_t leaf;  // where it lay; the number of leaves for a new tensor
  };
  void lower_elementwise(ir::OpId op);
  // An op that waits for the element-wise ops behind it, to be computed with them (epilogues.cpp).
  bool waits_for_epilogue(ir::OpId op) const;
  bool may_come_first(ir::OpId op, ir::ValueId v) const;
  bool reads_in_whole(ir::OpId reader, ir::ValueId v) const;
  bool finish(ir::OpId op, const Group& group);
  void lower_plainly(ir::OpId op);
  bool join(Group& group, ir::OpId op);
  bool may_join(const Group& group, ir::OpId op) const;
  bool add_expression(Group& group, ir::OpId op);
  void add_formula(Group& group, ir::OpId op);
  Any expression_of(ir::ValueId v, ir::OpId reader, Group& group);
  Any expression_of(ir::OpId op, Group& group);
  void count_reads(ir::OpId op, const Group& group);
  void compute(const Group& group);
  void turn_alike(poplar::Graph& graph, std::vector<poplar::Tensor>& operands, const std::vector<bool>& written, const std::string& name);
  std::optional<std::size_t> overwritten_leaf(const Group& group, const Member& member, const std::vector<bool>& taken);
  void keep_value(ir::OpId op, const std::vector<Leaf>& leaves, std::size_t leaf, bool new_version);
  StorageId add_storage(bool writable, bool temporary);
  // Values that lie in the slot's storage and are still read; `self` is not counted as an operand of the current op.
  std::vector<ir::ValueId> readers_of(const Slot& slot, ir::ValueId self) const;
  bool can_move(ir::ValueId v) const;
  void move_away(ir::ValueId v);
  bool overwritten_by(const Function& f, ir::ValueId v) const;
  void make_constant(ir::ValueId v);
  // Values from which one search has found nothing, and from how deep it looked on: values that many ways lead to are looked at once or
  // twice.
  class Fruitless {
   public:
    bool seen(ir::ValueId v, int depth) const {
      const auto it = depth_.find(v);
      return it != depth_.end() && it->second <= depth;
    }
    void add(ir::ValueId v, int depth) { depth_[v] = depth; }

   private:
    std::unordered_map<ir::ValueId, int> depth_;
  };
  poplar::Tensor wish_of(ir::ValueId v, int depth, Fruitless& fruitless);
  poplar::Tensor wish_through(ir::ValueId v, ir::OpId op, std::uint32_t index, int depth, Fruitless& fruitless);
  // What an operand of an op that carries a graph is there: an input of a graph that is lowered in its place.
  ir::ValueId inner_input(ir::OpId op, std::uint32_t index) const;
  ir::ValueId partner(ir::ValueId v, const std::function<bool(ir::ValueId)>& accept) const;
  ir::ValueId partner_of(ir::ValueId v, const std::function<bool(ir::ValueId)>& accept, int depth, Fruitless& fruitless) const;
  poplar::Tensor partner_layout(ir::ValueId v);
  bool is_home(ir::ValueId v) const;
  // What a view is a view of.
  ir::ValueId seen(ir::ValueId v) const;
  ir::ValueId weight_of_gradient(ir::ValueId v) const;
  bool has_functions() const;
  void choose_product_share();
  void balance(const std::set<ir::ValueId>& passed_on);
  void level_out(ir::ValueId v, Row::Parts parts);
  void count_loads(const Function& f);
  poplar::Tensor operand_of_first_call(ir::GraphId g, std::size_t input);
  void collect_reachable(ir::GraphId g, std::set<ir::GraphId>& seen) const;
  std::set<ir::GraphId> reachable(std::span<const ir::GraphId> graphs) const;
  // --- decisions as text
  std::string text_of(ir::OpId op) const;
  std::string where_lies(ir::ValueId v, std::span<const ir::ValueId> candidates, bool is_view) const;
  std::vector<ir::OpId> with_fused(ir::OpId op) const;
  void tell_variable(ir::ValueId v);
  void tell_op(ir::OpId op);
  void tell_pass(const Group& group);
  void tell_copy(ir::ValueId v, const Slot& slot, std::span<const ir::ValueId> readers);

  const ir::Module& module_;
  poplar::Graph& graph_;
  Options options_;
  Analysis analysis_;
  poplin::matmul::PlanningCache planning_;
  std::map<std::pair<std::int32_t, int>, poplar::Graph> virtual_graphs_;
  std::set<Library> libraries_;
  std::map<ir::HostStreamId, poplar::DataStream> streams_;
  std::set<ir::HostStreamId> used_streams_;
  std::map<ir::BufferId, poplar::RemoteBuffer> buffers_;

  DenseMap<ir::ValueId, Slot> slots_;
  // The straight-line piece of program, and the function, that a value's slot belongs to.
  DenseMap<ir::ValueId, std::uint32_t> scope_of_, function_of_;
  std::vector<Storage> storages_;
  // Where variables lie, by input of the main graph, and what programs leave for each other.
  std::vector<Slot> variables_, kept_;
  std::map<ir::GraphId, Function> functions_;
  std::set<ir::GraphId> being_lowered_;
  // Of programs with functions, on more than one tile.
  std::optional<TileLoads> loads_;
  // Whether the last wish was a function's.
  bool wish_of_function_ = false;
  // What the reader whose wish it was says of it.
  Row::Parts parts_of_wish_ = Row::Parts::move;
  // Whether the last new tensor lies as one that it is combined with.
  bool lies_as_partner_ = false;
  double product_share_ = 0;
  // Of all variables, by device.
  std::map<std::int32_t, double> variable_bytes_;
  std::map<ir::ValueId, poplar::Tensor> destinations_;
  Decisions decisions_;
  // Why the last wish, and values, are laid out as they are.
  std::string why_wish_;
  std::map<ir::ValueId, std::string> why_;
  std::map<ir::OpId, poplar::Tensor> wholes_;
  ir::OpId waiting_;
  GraphPlan plan_;
  // Where in plan_.ops.
  std::size_t at_ = 0;
  std::vector<ir::ValueId> current_;
  poplar::program::Sequence* program_ = nullptr;
  ir::Context context_ = ir::Context::normal;
  std::uint32_t scope_ = 0, scopes_ = 0, function_ = 0, function_count_ = 0;
  // Storages of the function that is being lowered.
  std::vector<StorageId>* function_storages_ = nullptr;
  std::set<std::uint32_t>* function_calls_ = nullptr;
};

}  // namespace pando::lower
