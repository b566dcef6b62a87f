// Graph to tile programs: the arrow from the graph level to the tile level. compile.cpp reads like a table of contents, one
// logged pass per line.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/late_values.h"
#include "graph/graph.h"
#include "tile/program.h"

namespace pando::compile {

// Builds of the presets debug and asan check every plan.
#ifdef PANDO_DEBUG
inline constexpr bool kValidateByDefault = true;
#else
inline constexpr bool kValidateByDefault = false;
#endif

struct Options {
  bool bind = true;             // bind read-only operands to the source's bytes (contract 12); off: always receive
  bool merge_moves = true;      // join adjacent moves
  bool merge_copies = true;     // copies that follow each other and are independent are one exchange
  bool regular_copies = true;   // what a copy of a grid of elements reads is told by its strides, not by its moves
  bool share_memory = true;     // variables not live together share addresses
  bool split_variables = true;  // liveness per byte range, not per variable
  bool infer_io_tiles = true;   // contract 2
  bool allow_out_of_memory = false;
  bool validate = kValidateByDefault;  // run the dumb validators on every plan
  bool bounded_memory = true;
  std::uint64_t worker_stack = 0, supervisor_stack = 0;  // bytes that a tile with vertices is charged with; 0: by its codelets
  // What is marked for reports: Blocks, and programs of any kind, whose names these regular expressions match as a whole; none if empty.
  std::string blocks, programs;
  bool mark_stream_copies = false;
  // Which line of the user's program made a variable, a compute set or a step, as a number from 1 (0: not known): those of one name and
  // different lines have names of their own.
  const std::map<std::uint32_t, std::uint32_t>*variable_lines = nullptr, *compute_set_lines = nullptr;
  std::function<std::uint32_t(const graph::Program&)> step_line;
  const LateValues* late_values = nullptr;  // operands of those vertices have to lie on their tiles: not with `bind`
  std::function<void(int step, int total)> progress;
  std::function<void(const char* pass, const std::string& text)> log;  // after every pass
  // After every pass over the plan, with what it has put there (print_plan.h): of one tile, if that is set.
  std::function<void(const char* pass, const std::string& plan)> show_plan;
  std::optional<TileId> shown_tile;
};

// That of a variable or compute set by its number; 0: not known.
inline std::uint32_t line_of(const std::map<std::uint32_t, std::uint32_t>* lines, std::uint32_t number) {
  if (lines == nullptr) return 0;
  const auto it = lines->find(number);
  return it == lines->end() ? 0 : it->second;
}

struct OutOfMemory {
  TileId tile;
  std::string region;  // "executable": code alone is too much for the memory it must lie in; else empty
  std::string step;    // where the most is live
  std::uint64_t needed = 0, available = 0;
  std::vector<std::pair<std::string, std::uint64_t>> largest;  // live there, largest first
  std::string message() const;
};

struct Result {
  std::shared_ptr<tile::Program> program;  // always set; with `out_of_memory` it serves reports only
  std::unique_ptr<OutOfMemory> out_of_memory;
  // By tile::NameId: the line that Options says; 0, or behind the end: none. Of copies that are one exchange the first one's, and those of
  // the others.
  std::vector<std::uint32_t> name_lines;
  std::map<tile::NameId, std::vector<std::uint32_t>> other_lines;
};

Result compile(const graph::Graph& graph, const std::vector<graph::ProgramPtr>& programs, const Options& options);

}  // namespace pando::compile
