// When the code of each graph must be in tile memory.
//
//     0 start                                A call of a graph needs its code from the latest load before it, or from the start where there
//     1 load g                               is none. A load says that the code was not needed since the call before it. Where branches
//     2 call g                               meet, code is needed before the branch if it is in any of them. Graphs that are never loaded
//     3 call g                               are in memory all the time.
//
//     g: dead before 1, live 1 to 3, dead after 3
#pragma once

#include "ir/module.h"

#include <string>
#include <vector>

namespace pando::transform {

// One step of the main program as far as code is concerned. Bodies of graphs that load code stand behind their call.
struct CodeEvent {
  enum class Kind { start, load, call, end_call, branch, otherwise, end_branch, loop, end_loop };
  Kind kind = Kind::start;
  // Loaded or called; of a branch: the first graph; of otherwise: the second.
  ir::GraphId graph;
  ir::OpId op;
  std::int32_t depth = 0;
};

struct CodeLiveness {
  // From event `first` to the end of event `last`.
  struct Interval {
    std::size_t first = 0, last = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  struct GraphCode {
    ir::GraphId graph;
    // Never loaded: in memory from the start to the end, whatever the intervals say.
    bool always = false;
    // When calls require the code; disjoint, ascending.
    std::vector<Interval> required;
  };
  std::vector<CodeEvent> events;
  // Every graph that the main program loads or calls, directly or not, in the order of the module.
  std::vector<GraphCode> graphs;
};

CodeLiveness code_liveness(const ir::Module& module);

// The events, numbered, and a line for each graph.
std::string to_string(const ir::Module& module, const CodeLiveness& liveness);

}  // namespace pando::transform
