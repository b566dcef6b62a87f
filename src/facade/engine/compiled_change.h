// Of a program that does not fit: would it fit with the smallest change? Compiled, not estimated.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"
#include "cycles/cycle_model.h"
#include "graph/graph.h"
#include "profile/report.h"

namespace pando::facade {

// Tries the smallest change of a mapping that the report names (profile::smallest_spread), with the variable over more and more of the
// emptiest tiles, until the program fits or no tile is left. Says what was compiled and what that gave, for Report::compiled_change; empty
// if there is no such change, or if the graph is too large to compile again: more than 100,000 vertices and variables. `report`, `rows`
// and `name_lines`: of `graph` as it is.
std::string compiled_change(const graph::Graph& graph, const std::vector<graph::ProgramPtr>& programs, const compile::Options& options,
                            const std::vector<std::uint32_t>& name_lines, const cycles::RowsOf& rows, const profile::Report& report);

}  // namespace pando::facade
