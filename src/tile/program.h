// The tile level: what every tile does. The result of `compile`, the input of `exec` and `cycles`; what an executable holds.
//
// One instruction stream per IPU and tile group. A stream is straight code with jumps over static tables: compute steps (vertex
// lists), exchanges (moves), transfers (moves to and from the host), all with addresses. Every tile belongs to one stream. An
// instruction that involves several streams carries a `sync`: each of them stops there until all have come; the last one does
// the work once, for all. Data cross tiles only by moves.
//
// Addresses are byte offsets in one tile's memory. A program describes one replica; replicas run the same streams over their
// own tiles.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "base/ids.h"
#include "base/values/format_tensor.h"
#include "codelet/library.h"
#include "machine/machine.h"

namespace pando::tile {

using SyncId = Id<struct SyncTag>;
using ExchangeId = Id<struct ExchangeTag>;
using ComputeId = Id<struct ComputeTag>;
using TransferId = Id<struct TransferTag>;
using NameId = Id<struct NameTag>;
using ChannelId = Id<struct ChannelTag>;

// `count` runs of `bytes` bytes. Run i goes from source + i * source_step to destination + i * destination_step. A source_step
// of 0 repeats one run: it is received once and written often. In a transfer one side is the host: its tile is invalid and its
// offset counts in the transfer's host block.
struct Move {
  TileId source_tile;
  TileId destination_tile;
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint32_t bytes = 0;
  std::uint32_t count = 1;
  std::int64_t source_step = 0;
  std::int64_t destination_step = 0;
  friend bool operator==(const Move&, const Move&) = default;
};

// All of `receive` happens before all of `arrange`; within each list order does not matter (no byte is written twice, and
// none that is written is read). `arrange` moves stay on one tile. `receive` is sorted by destination tile, then address.
struct Exchange {
  NameId name;
  std::vector<Move> receive;
  std::vector<Move> arrange;
  // Valid: these moves bring operands of this compute set, right before its steps. What those steps bind belongs to the same
  // exchange phase.
  ComputeSetId gathers{};
};

// One row of one edge field of one vertex: `count` elements at `offset` of `tile`. The tile is the vertex's own, or, where the
// operand is bound (contract 12), the source's.
struct Operand {
  TileId tile;
  std::uint32_t count = 0;
  std::uint64_t offset = 0;
};

inline constexpr std::uint64_t kUnestimated = ~std::uint64_t{0};

struct VertexInstance {
  TileId tile;
  std::uint32_t operands = 0;           // index of its first Operand in Program::operands; see below for the order
  std::uint32_t state = 0;              // index of its first byte in Program::state
  VertexId vertex;                      // of the graph, for texts and messages
  std::uint64_t cycles = kUnestimated;  // worker cycles; supervisor and multi vertices: tile cycles
};
// Operands of a vertex, in field order, edge fields only: a 1-D field has one Operand; a 2-D field has one header Operand
// {tile invalid, count = rows} and then one per row.
// State of a vertex, in field order, state fields only: a scalar is its bytes; a state vector is a uint32 count and its elements.

// Vertices of one codelet, sorted by tile.
struct VertexGroup {
  CodeletId codelet;
  std::uint32_t first = 0;  // in Program::vertices
  std::uint32_t count = 0;
};

struct Location {
  TileId tile;
  std::uint64_t offset = 0;
  ElementType type = ElementType::boolean;
};

// One stream's part of a compute set.
struct ComputeStep {
  NameId name;
  ComputeSetId compute_set;
  StreamId stream;
  std::vector<VertexGroup> groups;  // sorted by codelet
  std::optional<Location> result;   // receives the AND of the vertices' results (1 or 0)
  // Operands of this step that were bound, not received (for texts and accounting): bytes each tile would have received.
  std::vector<Move> bound;
};

// Data between the host and tiles: a FIFO block, rows of a remote buffer, a host handle, the tensor of a print, the arguments
// of a host function. `host_bytes` is the size of the host block that the moves' host offsets count in.
struct Transfer {
  enum class Kind : std::uint8_t { fifo, remote, handle, print, error, host_function };
  Kind kind = Kind::fifo;
  NameId name;
  bool to_device = true;
  ElementType type = ElementType::float_;
  std::uint64_t host_bytes = 0;
  std::vector<Move> moves;
  std::uint32_t index = 0;  // FifoId, RemoteBufferId, HostFunctionId, or index into Program::prints
  // Remote buffers: row_bytes of the buffer; the rows are read from `rows` (empty: row 0), one UNSIGNED_INT each.
  std::uint64_t row_bytes = 0;
  std::vector<Location> rows;
};

struct PrintInfo {
  std::string title;  // of a print; message of an error
  Shape shape;
  PrintFormat format;
};

// The kinds of steps: one per file of steps/, whose row (step.h) says what is true of it.
enum class Op : std::uint8_t {
#define X(step) step,
#include "step_manifest.inc"
#undef X
};
inline constexpr std::size_t kSteps = 0
#define X(step) +1
#include "step_manifest.inc"
#undef X
    ;

struct Instruction {
  Op op = Op::end;
  SyncId sync;          // invalid: this stream alone
  std::uint32_t a = 0;  // what a and b name: StepRow
  std::uint32_t b = 0;
  std::uint32_t target = 0;  // instruction index in this stream
  std::uint64_t count = 0;
  // Position in program order, the same number for one source step in every stream. With the rounds of the enclosing loops it
  // orders host callbacks (contract 4).
  std::uint32_t order = 0;
  NameId name;  // debug path of the source program
};

struct Stream {
  std::string name;  // "ipu0.compute", "ipu0.io"
  IpuId ipu;
  bool io = false;
  std::vector<TileId> tiles;  // sorted; every tile of the machine that the program uses
  std::vector<Instruction> code;
  std::vector<std::uint32_t> entries;  // per program of the engine: index of its first instruction
};

struct Sync {
  std::vector<StreamId> streams;  // sorted
};

// Blocks from one stream to another. The sender may be at most `capacity` blocks ahead; without a capacity both stop until the other has
// come. With one, both ends own so many slots, always live: block n is in slot n % capacity, which lies `out_slot` (`in_slot`) bytes behind
// the slot before it, on each tile of its end. A place is a tensor that is sent or received.
struct Channel {
  NameId name;
  StreamId sender, receiver;
  std::uint32_t capacity = 0;
  std::uint64_t bytes = 0;  // of a block
  std::uint64_t out_slot = 0, in_slot = 0;
  std::uint32_t sends = 0, receives = 0;  // places
  // With a capacity, only `receive` of each: per place from the tensor to the sender's slot 0; from there to the receiver's slot 0; from
  // there per place to the tensor.
  std::vector<ExchangeId> store;
  ExchangeId cross;
  std::vector<ExchangeId> take;
  // Without: from tensor to tensor, [place that is sent * receives + place that is received].
  std::vector<ExchangeId> direct;
};

enum class Category : std::uint8_t {
  variable,
  constant,
  vertex_state,
  vertex_code,
  exchange_buffer,
  globals,
  stack,
  control_code,
  exchange_code,
  reserved,
  staging
};
inline constexpr std::size_t kCategories = 11;
const char* name_of(Category c);

// One placed piece of one tile's memory.
struct Allocation {
  TileId tile;
  NameId name;
  Category category = Category::variable;
  bool always_live = false;
  bool estimated = false;  // the size is an estimate (code, stacks)
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t live = 0;  // index into Program::live_ranges
};
// Steps (Instruction::order) at which an allocation is live: sorted half-open intervals.
using LiveRange = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Image {
  std::uint64_t begin = 0;  // in each of the tiles
  std::string bytes;
  std::vector<TileId> tiles;
};

struct FifoInfo {
  std::string handle;
  bool to_device = true;
  ElementType type = ElementType::float_;
  std::uint64_t elements = 0;
  bool broadcast = false;
  unsigned depth = 1;
};
struct RemoteInfo {
  std::string handle;
  ElementType type = ElementType::float_;
  std::uint64_t elements = 0, repeats = 1;
};
struct HostFunctionInfo {
  std::string handle;
  std::vector<std::pair<ElementType, std::uint64_t>> inputs, outputs;
};
struct HandleInfo {
  std::string name;
  std::uint64_t bytes = 0;
  TransferId write, read; /* invalid: not allowed */
};

struct Program {
  Machine machine;
  unsigned replication = 1;
  unsigned programs = 0;           // entry points
  std::vector<std::string> names;  // NameId
  std::vector<Stream> streams;     // StreamId
  std::vector<Sync> syncs;
  std::vector<Channel> channels;  // ChannelId
  std::vector<ComputeStep> computes;
  std::vector<Exchange> exchanges;
  std::vector<Transfer> transfers;
  std::vector<PrintInfo> prints;
  std::vector<Location> locations;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> replica_maps;
  std::vector<VertexInstance> vertices;
  std::vector<Operand> operands;
  std::string state;
  std::vector<FifoInfo> fifos;
  std::vector<RemoteInfo> remote_buffers;
  std::vector<HostFunctionInfo> host_functions;
  std::vector<HandleInfo> handles;
  std::vector<std::string> functions;  // names, FunctionId

  // Memory. tile_bytes[t]: highest byte used on tile t (0: unused tile).
  std::vector<std::uint64_t> tile_bytes;
  std::vector<Allocation> allocations;  // sorted by tile, offset
  std::vector<LiveRange> live_ranges;
  // Initial bytes: constants and initial values, as moves from `initial_data` (a host block) to tiles.
  std::string initial_data;
  std::vector<Move> initial_moves;
  // Per module: offset of its globals on each tile (~0: none), indexed [module][tile].
  std::vector<std::vector<std::uint64_t>> globals;
  std::vector<Image> images;
  // Where the constant of addReplicationIndexConstant lies: the executor writes the replica's number.
  std::vector<Location> replica_index;
  // Codelets as the executable knows them, in CodeletId order; modules' .gp bytes, in ModuleId order.
  std::vector<std::string> codelet_names;
  std::vector<SharedBytes> modules;
  bool out_of_memory = false;  // compiled with debug.allowOutOfMemory: report only, load is rejected
};

// The text of the tile level (docs/level/tile.md). Deterministic. `only_tile` shows what one tile does.
struct PrintOptions {
  std::optional<TileId> only_tile;
  bool memory = true;
};
std::string print(const Program& program, const Library& library, const PrintOptions& options = {});

// The invariants above, checked slowly and simply. Returns messages, empty if all hold.
std::vector<std::string> verify(const Program& program, const Library& library);

// Throws graph_object_load_error unless every number of the program names something that is there, and every address lies in its memory. In
// linear time: for programs that come from elsewhere. Their codelets are native code, and believed.
void check_bounds(const Program& program, const Library& library);

// A binary form, for another process. `read` throws graph_object_load_error for a corrupt, foreign or newer file.
void write(const Program& program, std::ostream& out);
Program read(std::istream& in);

}  // namespace pando::tile
