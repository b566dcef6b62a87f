// Parts of the whole report, from the program alone (cycle_model.h: fill_memory, fill_facts).
#pragma once

#include <map>

#include "profile/report.h"
#include "tile/program.h"

namespace pando::cycles {

profile::BlockStream block_stream_of(const tile::Stream& stream);
// residents, placements, live_sets. After categories are filled. Returns the residents' names.
std::vector<tile::NameId> fill_address_map(const tile::Program& program, profile::Report& report);
// exchanges: the program's in their order, then what vertices of a compute set read in place on other tiles (contract 12), which the
// machine would exchange. Returns where the latter are.
std::map<ComputeSetId, std::uint32_t> fill_traffic(const tile::Program& program, profile::Report& report);

}  // namespace pando::cycles
