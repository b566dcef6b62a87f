#include "profile/file/schema.h"

#include <algorithm>

namespace pando::profile {

namespace {

constexpr Holds kNumber = Holds::number, kReal = Holds::real, kText = Holds::text, kRow = Holds::row, kMaybe = Holds::maybe_row,
                kEnd = Holds::end;

constexpr ColumnSpec kStreams[] = {
    {"name", kText, {}, false, "of the stream: `ipu0.compute`, `ipu0.io`"},
    {"ipu", kNumber, {}, false, "its IPU"},
    {"io", kNumber, {}, false, "1: its tiles do input and output"},
    {"tiles", kEnd, "stream_tiles", true, "its tiles"},
    {"always_live_bytes", kNumber, {}, false, "over its tiles"},
    {"liveness", kEnd, "liveness", true, "its steps that have memory"},
    {"compute", kNumber, {}, false, "cycles, as all terms up to `wait`"},
    {"exchange"},
    {"local_copy"},
    {"sync"},
    {"global_exchange"},
    {"host"},
    {"wait"},
    {"finish", kNumber, {}, false, "its clock at the end: the sum of the terms"},
    {"trace", kEnd, "trace", true, "what it executed"},
};
constexpr ColumnSpec kStreamTiles[] = {
    {"begin", kNumber, {}, false, "first tile of a range"},
    {"end", kNumber, {}, false, "the tile after the last one"},
};
constexpr ColumnSpec kTiles[] = {
    {"used", kNumber, {}, false, "bytes that are live at its fullest step, without gaps"},
    {"with_gaps", kNumber, {}, false, "the highest address in use"},
    {"always_live", kNumber, {}, false, "bytes that are live at every step"},
    {"stream", kMaybe, "streams", false, "the stream that it belongs to"},
    {"allocations", kEnd, "allocations", true, "what lies in its memory"},
};
constexpr ColumnSpec kTileCategories[] = {
    {"bytes",
     kNumber,
     {},
     false,
     "of a category at the tile's fullest step. Row `tile * c + k` is category k of the c in the document `categories`; a tile's rows add "
     "up to its `used`"},
};
constexpr ColumnSpec kVariables[] = {
    {"name", kText, {}, false, "debug path"},
    {"category", kNumber, {}, false, "index in the document `categories`"},
    {"bytes", kNumber, {}, false, "over all tiles"},
    {"tiles", kNumber, {}, false, "how many tiles have a part"},
    {"largest", kNumber, {}, false, "bytes on the tile that has most of it"},
    {"always_live_bytes", kNumber, {}, false, "what is live at every step"},
    {"first", kNumber, {}, false, "the first step (order) at which another part is live"},
    {"last", kNumber, {}, false, "the order after the last such step; `first` and `last` are 0 if all is always live"},
    {"source", kMaybe, "sources", false, "where the user's program made it"},
};
constexpr ColumnSpec kAllocations[] = {
    {"tile", kNumber, {}, true},
    {"offset", kNumber, {}, false, "its address in the tile's memory, in bytes; rows are sorted by tile and offset"},
    {"size", kNumber, {}, false, "bytes"},
    {"variable", kRow, "variables"},
    {"live", kMaybe, "live_sets", false, "when it is live; 0: always"},
    {"estimated", kNumber, {}, false, "1: the size is an estimate (code, stacks)"},
};
constexpr ColumnSpec kLiveSets[] = {{"intervals", kEnd, "live_intervals", true, "the steps at which an allocation is live"}};
constexpr ColumnSpec kLiveIntervals[] = {
    {"begin", kNumber, {}, false, "first order"},
    {"end", kNumber, {}, false, "the order after the last one"},
};
constexpr ColumnSpec kLiveness[] = {
    {"order", kNumber, {}, false, "position of the step in the program; ascends within a stream"},
    {"name", kText},
    {"live_bytes", kNumber, {}, false, "live and not always live, over the stream's tiles"},
    {"worst_tile_bytes", kNumber, {}, false, "on the fullest tile, always live bytes included"},
    {"worst_tile", kNumber, {}, false, "the fullest tile; the lowest of several"},
};
constexpr ColumnSpec kProgram[] = {
    {"order", kNumber, {}, true, "position in the program, the same in every stream. What is around a step stands before it"},
    {"name", kText, {}, false, "of a case: `true`, `false`, the number of a Switch, `default`"},
    {"kind",
     kText,
     {},
     false,
     "`compute`, `exchange`, `host`, `remote`, `sync` ...; of what is around others `loop`, `if`, `switch`, `case`, `function`; `call`"},
    {"inside", kMaybe, "program", false, "what is directly around it, which stands before it"},
    {"compute_set", kMaybe, "compute_sets"},
    {"exchange", kMaybe, "exchanges"},
    {"source", kMaybe, "sources"},
    {"other_sources", kEnd, "other_sources", true, "of copies that are one exchange: the lines of the others", true},
    {"calls", kMaybe, "program", false, "of a call: the function", true},
};
constexpr ColumnSpec kOtherSources[] = {{"source", kRow, "sources"}};
constexpr ColumnSpec kComputeSets[] = {
    {"name", kText},
    {"vertices", kNumber, {}, false, "how many"},
    {"flops", kNumber, {}, false, "floating-point operations of one execution, of the vertices whose estimates say them"},
    {"groups", kEnd, "vertex_groups", true, "its vertices by codelet and tile"},
    {"source", kMaybe, "sources"},
};
constexpr ColumnSpec kVertexGroups[] = {
    {"codelet", kRow, "codelets"},
    {"begin", kNumber, {}, false, "first tile of a range"},
    {"end", kNumber, {}, false, "the tile after the last one"},
    {"count", kNumber, {}, false, "vertices on each of these tiles"},
};
constexpr ColumnSpec kCodelets[] = {
    {"name", kText},
    {"vertices", kNumber, {}, false, "of the program"},
    {"executions", kNumber, {}, false, "of its vertices, in all runs"},
    {"cycles", kNumber, {}, false, "of the executed vertices themselves, added up"},
    {"estimated", kNumber, {}, false, "1: the cycles of all of them are known"},
    {"source",
     kText,
     {},
     false,
     "of the cycles: `estimated by the program`, `counted` (from the codelet's code), `counted instructions` (of assembly: exact), `not "
     "counted: REASON`",
     true},
    {"defined", kMaybe, "sources", false, "the line of its class or, in assembly, of its label; 0: its file does not say it", true},
    {"flops", kNumber, {}, false, "floating-point operations of all executions, of the vertices whose estimates say them", true},
    {"operand_bytes", kNumber, {}, false, "bytes of all operands of all executions", true},
};
constexpr ColumnSpec kCodeletLines[] = {
    {"codelet", kRow, "codelets", true},
    {"file", kText, {}, false, "of the source; a codelet's rows are sorted by file and line"},
    {"line"},
    {"cycles",
     kNumber,
     {},
     false,
     "of the executed vertices whose cycles are counted, added up; 0: a line of its functions without instructions"},
    {"text", kText, {}, false, "the line, as it was compiled; empty where that is not known"},
};
constexpr ColumnSpec kBuffers[] = {
    {"compute_set", kRow, "compute_sets", false, "whose vertices need the buffers"},
    {"codelet", kRow, "codelets"},
    {"field", kText, {}, false, "of the codelet"},
    {"variable", kText, {}, false, "the user's variable; of several the first, and how many more"},
    {"tiles", kNumber, {}, false, "how many have such buffers"},
    {"buffers", kNumber, {}, false, "how many operands are gathered or scattered"},
    {"pieces", kNumber, {}, false, "contiguous runs that they are made of"},
    {"bytes", kNumber, {}, false, "all together"},
    {"remote_bytes", kNumber, {}, false, "of them, what lies on other tiles; the rest is on the vertex's tile, in pieces"},
};
constexpr ColumnSpec kExchanges[] = {
    {"name", kText},
    {"bytes", kNumber, {}, false, "that tiles receive from other tiles, at one execution"},
    {"senders", kNumber, {}, false, "tiles"},
    {"receivers", kNumber, {}, false, "tiles"},
    {"busiest_tile", kNumber, {}, false, "the tile that receives most"},
    {"busiest_bytes", kNumber, {}, false, "what it receives"},
    {"local_bytes", kNumber, {}, false, "copied within tiles"},
    {"copies", kNumber, {}, false, "runs that are copied within tiles"},
    {"block", kNumber, {}, false, "`traffic` counts blocks of so many tiles: 1, 2, 4 ... (1: tiles)"},
    {"traffic", kEnd, "traffic", true},
};
constexpr ColumnSpec kTraffic[] = {
    {"from", kNumber, {}, false, "block of tiles that sends"},
    {"to", kNumber, {}, false, "block that receives"},
    {"bytes", kNumber, {}, false, "at one execution"},
    {"messages", kNumber, {}, false, "contiguous runs"},
};
constexpr ColumnSpec kSteps[] = {
    {"stream", kRow, "streams"},
    {"name", kText},
    {"kind", kText, {}, false, "as in `program`"},
    {"order", kNumber, {}, false, "as in `program`"},
    {"program", kMaybe, "program", false, "its row there; a step of control has none"},
    {"executions"},
    {"compute", kNumber, {}, false, "cycles of all executions, as all terms up to `wait`"},
    {"exchange"},
    {"local_copy"},
    {"sync"},
    {"global_exchange"},
    {"host"},
    {"wait"},
    {"vertices", kNumber, {}, false, "of all executions, as the next two"},
    {"unestimated_vertices"},
    {"exchanged_bytes"},
    {"balance", kReal, {}, false, "mean over the stream's tiles / slowest tile, 0 to 1; of a compute step"},
    {"flops", kNumber, {}, false, "of all executions"},
    {"slowest_tile", kNumber, {}, false, "of a compute step; the lowest of several"},
    {"slowest_codelet", kMaybe, "codelets", false, "of the slowest vertex on that tile"},
    {"slowest_cycles", kNumber, {}, false, "of that vertex"},
    {"used_workers", kNumber, {}, false, "vertices on that tile, at most the workers of a tile"},
    {"profile", kMaybe, "tile_profiles", false, "cycles of each tile at one execution; 0: those of the terms, on all tiles of the stream"},
};
constexpr ColumnSpec kTileProfiles[] = {
    {"exact", kNumber, {}, false, "0: neighbouring tiles were joined to save room, and have the cycles of the slowest of them"},
    {"ranges", kEnd, "tile_cycles", true},
};
constexpr ColumnSpec kTileCycles[] = {
    {"begin", kNumber, {}, false, "first tile of a range"},
    {"end", kNumber, {}, false, "the tile after the last one"},
    {"cycles", kNumber, {}, false, "of each of them, at one execution"},
};
constexpr ColumnSpec kTrace[] = {
    {"step", kRow, "steps", false, "of an event; of a loop 0"},
    {"gap", kNumber, {}, false, "cycles since the end of the event before, in which the stream waits; of a loop 0"},
    {"cycles", kNumber, {}, false, "of the event; of a loop: of one round, gaps included"},
    {"times", kNumber, {}, false, "how often the event, or the loop's round, comes in a row"},
    {"rows", kNumber, {}, false, "of a loop: how many of the next rows are its round (loops in it have rows of their own); of an event 0"},
};
constexpr ColumnSpec kRuns[] = {
    {"program", kNumber, {}, false, "of the engine"},
    {"begin", kNumber, {}, true, "cycles"},
    {"end", kNumber, {}, true, "cycles"},
    {"host_ns", kNumber, {}, false, "time that the host needed, in nanoseconds; the one column that differs from run to run"},
    {"name", kText, {}, false, "that the program gave the run; empty: none", true},
};
constexpr ColumnSpec kBlocks[] = {
    {"name", kText, {}, false, "of a program that is measured as a whole"},
    {"stream", kRow, "streams"},
    {"stream_copy", kNumber, {}, false, "1: a copy between host and device"},
    {"begin", kNumber, {}, false, "cycles of the stream's clock"},
    {"end"},
};
constexpr ColumnSpec kSources[] = {
    {"file", kText},
    {"line"},
};

constexpr TableSpec kTables[] = {
    {"streams", "one row for each stream of instructions: the compute tiles or the I/O tiles of an IPU", kStreams},
    {"stream_tiles", "ranges of the streams' tiles", kStreamTiles},
    {"tiles", "one row for each tile of a replica", kTiles},
    {"tile_categories", "what a tile's memory consists of", kTileCategories},
    {"variables", "what has memory: one row for each variable, and for each kind of code, buffer or stack", kVariables},
    {"allocations", "the address map: pieces of the tiles' memories", kAllocations},
    {"live_sets", "when allocations are live", kLiveSets},
    {"live_intervals", "steps, by `live_sets`", kLiveIntervals},
    {"liveness", "live memory at each step, by stream", kLiveness},
    {"program", "the lowered program: steps that have memory, what is around them, calls", kProgram},
    {"other_sources", "lines of the user's program, by step of the program", kOtherSources},
    {"compute_sets", "those that a program executes", kComputeSets},
    {"vertex_groups", "vertices, by compute set", kVertexGroups},
    {"codelets", "of the vertices", kCodelets},
    {"codelet_lines", "cycles by line of the codelets' sources, of those that were compiled with `popc -g`", kCodeletLines},
    {"buffers", "why exchange buffers are there: operands of vertices that do not lie on the vertex's tile in one piece", kBuffers},
    {"exchanges", "data between tiles: one row for each exchange of the program", kExchanges},
    {"traffic", "bytes from tile to tile, by exchange", kTraffic},
    {"steps", "executed steps, added up over their executions: in order of the first one, one row for each stream", kSteps},
    {"tile_profiles", "cycles by tile; steps that are alike share one", kTileProfiles},
    {"tile_cycles", "ranges of tiles, by profile", kTileCycles},
    {"trace", "what each stream executed, one after the other; what repeats is folded", kTrace},
    {"runs", "runs of the engine", kRuns},
    {"blocks", "executions of programs that are measured as a whole, by stream and begin", kBlocks},
    {"sources", "lines of the user's program", kSources},
};

constexpr DocumentSpec kDocuments[] = {
    {"report", "`target`, `graph`, `out_of_memory`, `executed`, `runs`, `total_cycles` and what was left out"},
    {"categories", "the categories of memory: `category`, `estimated`, `bytes`, `meaning`, `reduce`"},
    {"advice", "what the rules of advice found, worst first"},
    {"plan", "of `pando search` and `pando simulate`: `title`, `points`, `devices`, `events` and what else the page on reports names"},
    {"predicted", "of runs whose program is at the model level: the predicted times of a step, in the form of `plan`"},
    {"strings", "the texts that columns name by number"},
};

}  // namespace

std::span<const TableSpec> table_specs() { return kTables; }
std::span<const DocumentSpec> document_specs() { return kDocuments; }

const TableSpec* find_table(std::string_view name) {
  const auto it = std::find_if(std::begin(kTables), std::end(kTables), [&](const TableSpec& t) { return t.name == name; });
  return it == std::end(kTables) ? nullptr : it;
}

std::string_view name_of(Holds holds) {
  constexpr std::string_view kNames[] = {"number", "real", "text", "row", "maybe_row", "end"};
  return kNames[static_cast<std::size_t>(holds)];
}

}  // namespace pando::profile
