// What the graph says and the compiled program does not, for reports: why operands need exchange buffers, how many floating-point
// operations a compute set has, and the lines of the user's program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "cycles/cycle_model.h"
#include "facade/state/state.h"
#include "graph/graph.h"
#include "profile/report.h"
#include "tile/program.h"

namespace pando::facade {

struct GraphFacts {
  struct Cause {
    ComputeSetId compute_set;
    profile::BufferCause cause;  // without its compute set's row
  };
  std::vector<Cause> causes;  // largest first
  std::map<ComputeSetId, std::uint64_t> flops;
  std::map<ComputeSetId, profile::Source> compute_sets;
  std::map<tile::NameId, profile::Source> names;                     // of variables, and of steps
  std::map<tile::NameId, std::vector<profile::Source>> other_names;  // of steps that several lines made: the others
  std::map<std::string, profile::Source> codelets;                   // where those of the vertices are defined
  // By compute set and codelet, of one execution.
  struct Work {
    std::uint64_t flops = 0, operand_bytes = 0;
  };
  std::map<std::pair<ComputeSetId, std::string>, Work> work;
  std::map<std::string, profile::Source> by_name;  // of variables whose line is not known: the first one's of that name
};

// `result`: of what was compiled; its lines are looked at alone.
GraphFacts graph_facts(const poplar::core::GraphShared& shared, const graph::Graph& compiled, const compile::Result& result);

// Puts them where the report's rows of them are.
void add_graph_facts(const GraphFacts& facts, const cycles::RowsOf& of, profile::Report& report);

// Those of executed steps, from their compute sets', and of codelets; and the bytes of codelets' operands.
void add_work(profile::Report& report);

// Keeps the line of the user's program that variable or compute set `id` was made by, if it is known: the context's or that of a
// SourceScope.
void keep_site(poplar::core::GraphShared& shared, std::map<std::uint32_t, std::uint32_t>& sites, std::uint32_t id,
               const poplar::DebugContext& context);

// The line that a program step was made by; null if it is not known. `shared`: of its tensors, or null.
std::shared_ptr<const graph::SourceLine> source_line(const poplar::DebugContext& context, const poplar::core::GraphShared* shared);

}  // namespace pando::facade
