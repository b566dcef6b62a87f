// What the passes of the compiler hand to each other: the program with symbolic addresses. A shard is one variable's bytes on
// one tile (or a temporary buffer); until placement, an address is a shard and an offset in it.
//
//   variable x[8], elements 0..5 on tile 0, 6..7 on tile 1:     shard A (tile 0): x0 x1 x2 x3 x4 x5
//                                                               shard B (tile 1): x6 x7
//
// An action is one unit of work (an exchange, a compute set, a transfer ...); it may stand at several places of the step tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/interval.h"
#include "compile/chunks.h"
#include "compile/compile.h"
#include "graph/graph.h"
#include "tile/program.h"

namespace pando::compile {

using ShardId = Id<struct ShardTag>;
using ActionId = Id<struct ActionTag>;

struct Shard {
  TileId tile;
  tile::NameId name;
  tile::Category category = tile::Category::variable;
  std::uint64_t bytes = 0;
  std::uint32_t align = 8;
  bool interleaved = false;
  bool always_live = false;
};

struct Address {
  ShardId shard;
  std::uint64_t offset = 0;
};

// Elements [begin, end) of a variable lie at `local` bytes of `shard`.
struct ShardInterval {
  Interval elements;
  ShardId shard;
  std::uint64_t local = 0;
};

// tile::Move with symbolic ends; an invalid shard is the host.
struct SymbolicMove {
  Address source, destination;
  std::uint32_t bytes = 0;
  std::uint32_t count = 1;
  std::int64_t source_step = 0, destination_step = 0;
};

struct SymbolicExchange {
  tile::NameId name;
  std::vector<SymbolicMove> receive, arrange;
  ComputeSetId gathers{};   // as in tile::Exchange
  bool reads_once = false;  // it is known that `receive` reads no byte twice
};

// read: the value is needed. write: all of the bytes get new values. modify: both. partial: some of the bytes get new values.
// undefine: the bytes are not needed until they are written.
enum class AccessKind : std::uint8_t { read, write, modify, partial, undefine };

struct ShardAccess {
  ShardId shard;
  ActionId action;
  Interval bytes;
  AccessKind kind = AccessKind::read;
  bool whole = false;  // an operand of a vertex: its bytes must stay together
};

struct SymbolicOperand {
  Address at;               // invalid shard: header of a 2-D field
  std::uint32_t count = 0;  // elements, or rows
};

struct SymbolicVertex {
  VertexId vertex;
  std::uint32_t first_operand = 0, operands = 0;  // in SymbolicCompute::operands
};

struct SymbolicCompute {
  ComputeSetId compute_set;
  tile::NameId name;
  std::vector<SymbolicVertex> vertices;  // sorted by (stream, codelet, tile)
  std::vector<SymbolicOperand> operands;
  std::vector<SymbolicMove> bound;
  // Result of Execute(cs, tensor): per stream that has vertices, where its AND goes.
  std::vector<std::pair<StreamId, Address>> results;
};

struct SymbolicTransfer {
  tile::Transfer transfer;  // without moves and rows
  std::vector<SymbolicMove> moves;
  std::vector<Address> rows;
  std::optional<tile::TransferId> reverses;  // its moves are those of that transfer backwards: the host reads what it has written
};

struct SymbolicLocation {
  Address at;
  ElementType type = ElementType::boolean;
};

struct Action {
  tile::Op op = tile::Op::sync;
  std::uint32_t a = 0;  // index into the plan's table for `op`; a FunctionId for load_code
  std::uint32_t b = 0;
  std::vector<StreamId> streams;  // sorted; more than one: they sync
  tile::NameId name;
};

// The step tree. Orders count leaves in program order; a node covers [begin, end).
struct Node {
  enum class Kind : std::uint8_t { sequence, action, repeat, repeat_while, branch, call };
  Kind kind = Kind::sequence;
  std::uint32_t begin = 0, end = 0;
  std::vector<Node> children;  // sequence: steps; repeat: the body; repeat_while: condition, test, body; branch: test, then the ways
  ActionId action;             // action; the test of repeat_while and branch is an action node too
  FunctionId function;         // call
  std::uint64_t count = 0;     // repeat
  bool until = false;          // repeat_while: leave when true
  std::vector<std::optional<std::int32_t>> cases;  // branch: per way its value; nullopt: otherwise. If: {1, nullopt} with `boolean`
  bool boolean = false;                            // branch on zero or not
  // Where each taking part stream reads the predicate.
  std::vector<std::pair<StreamId, SymbolicLocation>> predicate;
  std::vector<StreamId> streams;  // sorted: those with something to do in here
  tile::NameId name;
};

// A part of a shard that is placed as one.
struct Fragment {
  Interval bytes;
  std::uint32_t live = 0;  // index into live ranges
  std::uint64_t address = 0;
};

// The fragments of each shard, in order: one list of them all, for there are millions of shards.
class FragmentLists {
 public:
  std::span<const Fragment> operator[](ShardId s) const { return std::span(all_).subspan(first_[s.index()], count(s)); }
  std::span<Fragment> operator[](ShardId s) { return std::span(all_).subspan(first_[s.index()], count(s)); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  void reserve(std::size_t shards) {
    first_.reserve(shards + 1);
    all_.reserve(shards);
  }
  // Of the last shard.
  void add(const Fragment& f) {
    all_.push_back(f);
    first_.back() = all_.size();
  }
  void add_shard() { first_.push_back(all_.size()); }

 private:
  std::size_t count(ShardId s) const { return first_[s.index() + 1] - first_[s.index()]; }

  std::vector<Fragment> all_;
  std::vector<std::size_t> first_{0};  // of each shard, and where the last one ends
};

struct Plan {
  const graph::Graph& graph;
  const Options& options;
  std::shared_ptr<tile::Program> out;  // names, streams and tables are filled in as passes go

  // streams
  std::vector<StreamId> stream_of_tile;

  // layout
  DenseMap<ShardId, Shard> shards;
  DenseMap<VariableId, std::vector<ShardInterval>> layout;

  // lowered programs
  DenseMap<ActionId, Action> actions;
  Chunks<ShardAccess> accesses;  // but of shards that were laid out as always live
  std::vector<SymbolicExchange> exchanges;
  std::vector<SymbolicCompute> computes;
  std::vector<SymbolicTransfer> transfers;
  std::vector<SymbolicLocation> locations;
  std::vector<Node> programs;  // per program of the engine
  DenseMap<FunctionId, Node> function_bodies;
  std::uint32_t orders = 0;
  std::vector<SymbolicMove> initial_moves;  // constants and initial values, from Program::initial_data

  // liveness and placement
  FragmentLists fragments;
  std::unique_ptr<OutOfMemory> out_of_memory;
  bool merged_copies = false;  // did copies become one exchange?

  std::unordered_map<std::string, tile::NameId> name_ids;  // looked up, never iterated
  std::vector<std::uint32_t> name_lines;                   // Result::name_lines
  std::map<tile::NameId, std::vector<std::uint32_t>> other_lines;

  tile::NameId name(const std::string& text, std::uint32_t line = 0);
  // Of what several lines made.
  tile::NameId name(const std::string& text, const std::vector<std::uint32_t>& lines);
  // Of shards that are always live nobody asks when.
  void access(const ShardAccess& a) {
    if (!shards[a.shard].always_live) accesses.push_back(a);
  }
  ShardId add_temporary(TileId tile, std::uint64_t bytes, tile::Category category, const std::string& name);
  ShardId add_temporary(TileId tile, std::uint64_t bytes, tile::Category category, tile::NameId name);
  StreamId stream_of(ShardId s) const { return stream_of_tile[shards[s].tile.index()]; }
  std::uint64_t element_bytes(VariableId v) const { return size_of(graph.variables()[v].type); }
};

// The interval of `variable` that holds `element`. The element is mapped (verified before).
const ShardInterval& locate(const Plan& plan, VariableId variable, std::uint64_t element);

// The passes, in their order. Each fills a part of the plan; compile.cpp says what each may rely on.
void assign_streams(Plan& plan, const std::vector<graph::ProgramPtr>& programs);
void lay_out_variables(Plan& plan);
void lower_programs(Plan& plan, const std::vector<graph::ProgramPtr>& programs);
void find_live_ranges(Plan& plan);
void place_memory(Plan& plan);
void emit(Plan& plan);

}  // namespace pando::compile
