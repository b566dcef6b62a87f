// Parts of the whole report, from the program alone (cycle_model.h: fill_memory, fill_facts).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/report.h"
#include "tile/program.h"

namespace pando::cycles {

profile::BlockStream block_stream_of(const tile::Stream& stream);
// residents, placements, live_sets. After categories are filled. Returns the residents' names.
std::vector<tile::NameId> fill_address_map(const tile::Program& program, profile::Report& report);
// exchanges: the program's in their order, then what vertices of a compute set read in place on other tiles (contract 12), which the
// machine would exchange. Returns where the latter are.
std::map<ComputeSetId, std::uint32_t> fill_traffic(const tile::Program& program, profile::Report& report);

// Where compute sets and what they bind are in the report.
struct ProgramRows {
  std::map<ComputeSetId, std::uint32_t> compute_sets, bound;
  bool has_exchanges = false;
};
// The steps that have memory, and what stands around them: loops, branches and their cases, functions; and the calls of these. Steps that
// several streams take part in have the same order in all of them. Appends the rows' names to `names`.
std::vector<profile::ProgramStep> program_of(const tile::Program& program, const ProgramRows& rows, std::vector<tile::NameId>& names);

std::string name_at(const tile::Program& program, tile::NameId name);

}  // namespace pando::cycles
