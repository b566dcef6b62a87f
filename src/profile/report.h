// The report: what the machine did, as data. Filled by `cycles` from the tile program (memory) and from its clocks (time); kept in a file
// by `write_report`. Questions, advice, exports and the text are functions of it. Knows no machine and no level.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "profile/plan/plan.h"
#include "profile/steps.h"

namespace pando::profile {

struct TargetInfo {
  std::string name;
  std::uint32_t ipus = 0, tiles_per_ipu = 0, tiles = 0, workers = 0, replicas = 1;
  std::uint64_t bytes_per_tile = 0;  // 0: unbounded
  double clock_hz = 0;
  // Of a tile, at most: floating-point operations of its matrix unit, and bytes that it loads. 0: not known.
  std::uint32_t flops_per_cycle_f32 = 0, flops_per_cycle_f16 = 0, load_bytes_per_cycle = 0;
};
struct GraphInfo {
  std::uint64_t variables = 0, vertices = 0, compute_sets = 0, edges = 0, programs = 0;
};
// `bytes` is the sum of the tiles' by_category.
struct CategoryBytes {
  std::string category;
  bool estimated = false;
  std::uint64_t bytes = 0;
};
struct TileMemory {
  std::uint64_t used = 0;                  // bytes in use at any time (highest overlap is counted once), without gaps
  std::uint64_t with_gaps = 0;             // highest address used
  std::vector<std::uint64_t> by_category;  // parallel to Report::categories; what makes up `used`: their sum
  std::uint64_t always_live = 0;
};
struct LiveStep {  // one step of one stream
  std::uint32_t order = 0;
  std::string name;
  std::uint64_t live_bytes = 0;        // not always-live, summed over the stream's tiles
  std::uint64_t worst_tile_bytes = 0;  // the fullest tile, always-live bytes included: what meets the limit
  std::uint32_t worst_tile = 0;
};
struct StreamLiveness {
  std::string stream;
  std::uint64_t always_live_bytes = 0;
  Rows<LiveStep> steps;
};
struct LargestVariable {
  std::string name;
  std::string category;
  std::uint64_t bytes = 0;
  std::uint32_t tiles = 0;
};

// One codelet's vertices in a compute set, by tile. Ranges are flat: begin, end, how many on each tile, begin ...
struct CodeletVertices {
  std::string codelet;
  std::vector<std::uint32_t> tiles;
  // Of one execution: where estimates say them; bytes of all operands. While the report is made; the file has Report::codelets'.
  std::uint64_t flops = 0, operand_bytes = 0;
};
struct ComputeSetVertices {
  std::string name;
  std::vector<CodeletVertices> codelets;  // by name
  std::uint64_t vertices = 0, flops = 0;  // flops: of one execution, where estimates say them
  std::uint32_t source = 0;               // a line of the user's program: index in Report::sources from 1; 0: not known
};
// A step of the compiled program, once for all streams that take part; or what stands around steps, or calls a function.
struct ProgramStep {
  std::uint32_t order = 0;
  // Of what stands around others: "loop", "if", "switch", "case" (a way of an if or switch), "function". A call is "call".
  std::string name, kind;
  std::uint32_t inside = 0;  // index in Report::program of what stands around it directly, from 1; 0: nothing does
  // Indices from 1 in Report::compute_sets, exchanges, sources; 0: none.
  std::uint32_t compute_set = 0, exchange = 0, source = 0;
  std::vector<std::uint32_t> other_sources = {};  // of copies that are one exchange: the lines of the others
  std::uint32_t calls = 0;                        // of a call: index in Report::program of the function, from 1
};
// Whether it stands around others.
bool stands_around(const ProgramStep& part);
// Bytes over all tiles of what has one name and category. `live`: the first order, the order after the last one, bytes ... of what is not
// always live.
struct LoweredVariable {
  std::string name, category;
  std::uint64_t always_live_bytes = 0;
  std::vector<std::uint64_t> live;
};

// A line of the user's program.
struct Source {
  std::string file;
  std::uint32_t line = 0;
  friend bool operator==(const Source&, const Source&) = default;
};
// What has memory: a variable, or a kind of code, buffer or stack.
struct Resident {
  std::string name;
  std::uint32_t category = 0;  // in Report::categories
  std::uint32_t tiles = 0;
  std::uint64_t bytes = 0, largest = 0;  // over all tiles; on the tile that has most of it
  std::uint64_t always_live_bytes = 0;
  std::uint32_t first = 0, last = 0;  // the steps at which another part is live: first order, order after the last one
  std::uint32_t source = 0;
};
// A piece of a tile's memory.
struct Placement {
  std::uint32_t tile = 0, resident = 0;
  std::uint32_t live = 0;  // index in Report::live_sets from 1; 0: always
  bool estimated = false;
  std::uint64_t offset = 0, size = 0;
};
using LiveSet = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // orders: sorted half-open intervals

// Why exchange buffers are there: an operand of the compute set's vertices does not lie on their tile in one piece.
struct BufferCause {
  std::uint32_t compute_set = 0;  // in Report::compute_sets
  std::string codelet, field, variable;
  std::uint32_t tiles = 0;
  std::uint64_t buffers = 0, pieces = 0, bytes = 0, remote_bytes = 0;
};

struct Traffic {
  std::uint32_t from = 0, to = 0;  // blocks of tiles
  std::uint64_t bytes = 0, messages = 0;
};
struct ExchangeTraffic {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t senders = 0, receivers = 0, busiest_tile = 0;
  std::uint64_t busiest_bytes = 0, local_bytes = 0, copies = 0;
  std::uint32_t block = 1;  // tiles of a block
  std::vector<Traffic> traffic;
};

// Cycles of each tile at one execution of a step. Flat: begin, end, cycles of each tile from begin to end ...
struct TileProfile {
  bool exact = true;  // false: neighbours were joined, and have the cycles of the slowest of them
  std::vector<std::uint64_t> ranges;
};
// What a stream executed, in order: an event, or a loop with its round behind it. The columns of the table `trace`.
struct TraceRow {
  std::uint32_t step = 0, rows = 0;
  std::uint64_t gap = 0, cycles = 0, times = 1;
  friend bool operator==(const TraceRow&, const TraceRow&) = default;
};
struct RunTimes {
  std::uint32_t program = 0;
  std::uint64_t begin = 0, end = 0, host_ns = 0;
  std::string name = {};  // that the program gave it
};

// A line of a codelet's source: of its functions, also where it has no cycles.
struct LineCycles {
  std::string file;
  std::uint32_t line = 0;
  std::uint64_t cycles = 0;  // of all executed vertices, as those of the codelet
  std::string text;          // as it was compiled; empty where that is not known
};
struct CodeletCycles {
  std::string codelet;
  std::uint64_t instances = 0, cycles = 0;
  bool estimated = false;
  std::uint64_t vertices = 0;  // of the program; `instances` counts executions
  std::string source;          // of the cycles: "estimated by the program", "counted", "not counted: REASON"
  // By file and line; they add up to the cycles of the vertices that were counted. Empty: the codelet was compiled without -g.
  std::vector<LineCycles> lines;
  std::uint64_t flops = 0, operand_bytes = 0;  // of all executions: where estimates say them; bytes of all operands
};
// One execution of a program that was to be measured as a whole, on one stream, or of a copy between host and device.
struct BlockCycles {
  std::string name;
  std::uint32_t stream = 0;
  bool stream_copy = false;
  std::uint64_t begin = 0, end = 0;
};
// Where a stream runs. `tiles` are half-open ranges, flat: begin, end, begin, end ...
struct BlockStream {
  std::string stream;
  std::uint32_t ipu = 0;
  bool io = false;
  std::vector<std::uint32_t> tiles;
};
struct StreamTotals {
  std::string stream;
  Cycles cycles;
  std::uint64_t finish = 0;
};

struct Report {
  TargetInfo target;
  GraphInfo graph;
  std::vector<CategoryBytes> categories;
  std::vector<TileMemory> tiles;
  std::vector<StreamLiveness> liveness;
  std::vector<LargestVariable> largest;
  Rows<ProgramStep> program;  // by order
  std::vector<ComputeSetVertices> compute_sets;
  std::vector<LoweredVariable> variables;  // only if they were asked for
  std::string out_of_memory;               // message, empty if all fits
  std::string compiled_change;             // of what does not fit: a change with which it was compiled, and what that gave
  bool executed = false;
  std::uint64_t runs = 0;
  std::uint64_t total_cycles = 0;  // the latest stream's clock
  std::vector<StreamTotals> streams;
  Steps steps;  // in first-execution order
  std::vector<CodeletCycles> codelets;
  // Each stream's in order of their begin. The first ones: `blocks_lost` counts those that nobody kept.
  std::vector<BlockCycles> blocks;
  std::uint64_t blocks_lost = 0;
  std::vector<BlockStream> block_streams;  // what BlockCycles::stream is an index of

  // What version 3 did not have. Filled where the whole report is asked for.
  std::string writer;  // which program wrote the file that this was read from
  std::vector<Resident> residents;
  std::vector<Placement> placements;  // by tile and offset
  std::vector<LiveSet> live_sets;
  std::vector<BufferCause> buffers;  // largest first
  std::vector<ExchangeTraffic> exchanges;
  std::vector<TileProfile> tile_profiles;
  std::vector<std::vector<TraceRow>> traces;  // by stream
  std::uint64_t events_lost = 0;              // executed steps that `traces` has no room for
  std::vector<RunTimes> run_times;
  std::vector<Source> sources;
  std::map<std::string, std::uint32_t> codelet_sources;  // where codelets are defined: indices in `sources` from 1
  DevicePlan plan;                                       // of pando search and simulate; those have no tiles
  // Of a run: what was predicted of a step of its program. Without a title there is none; without devices its text says why.
  DevicePlan predicted;
};

// showExecutionSteps, showVarStorage, showPerIpuMemoryUsage.
struct SummaryOptions {
  bool execution_steps = false;
  bool var_storage = false;
  bool per_ipu_memory = false;
};

// Text of at most 100 columns (long names are cut in the middle). Estimates are marked; a step with a vertex that has no
// estimate says so.
void print_summary(const Report& report, const SummaryOptions& options, std::ostream& out);

// The file, version 4 (docs/level/report.md).
void write_report(const Report& report, std::ostream& out);
// Of devices alone: a report without tiles.
void write_report(const DevicePlan& plan, std::ostream& out, const DevicePlan& predicted = {});
// A report file with this prediction instead of its own. Of what the file has only the index is read; of version 3 all of it. Throws as
// read_report.
std::string with_prediction(std::string bytes, const DevicePlan& predicted);
// Of this version, or of version 3 (JSON). Throws parse_error: no report, another version, cut off, damaged; it says what and where.
Report read_report(std::string bytes);

// Version 3: JSON without what came later. Throws parse_error as above, and for a part that is missing or of the wrong type.
inline constexpr unsigned kJsonVersion = 3;
void write_json(const Report& report, std::ostream& out);
Report read_json(std::istream& in);

// One self-contained picture: memory per tile, live memory of each stream over the program, cycles by step.
void write_svg(const Report& report, std::ostream& out);

// Chrome trace events (chrome://tracing, Perfetto): one row per stream, cycles as microseconds.
struct TraceSlice {
  std::string stream, name, kind;
  std::uint64_t begin = 0, end = 0;
};
void write_chrome_trace(const std::vector<TraceSlice>& slices, std::ostream& out);

}  // namespace pando::profile
