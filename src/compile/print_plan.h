// What each pass has put into the plan, as text: what tests of passes compare, and `pando dump --level=plan` shows. Steps and tables are
// written as in the text of the tile level; a shard is sh3, the bytes of it that begin at 16 sh3+16, an action a4.
#pragma once

#include <optional>
#include <string>

#include "compile/plan.h"

namespace pando::compile {

enum class Pass : std::uint8_t {
  assign_streams,
  lay_out_variables,  // shards, and where elements of variables lie
  lower_programs,     // steps, their tables, and all accesses, which the next pass drops
  find_live_ranges,   // the fragments of shards
  place_memory,       // their addresses
  emit,               // the tile program
};
const char* name_of(Pass pass);

// `only`: what of it concerns one tile.
std::string text_after(Pass pass, const Plan& plan, std::optional<TileId> only = {});

}  // namespace pando::compile
