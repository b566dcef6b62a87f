// Pieces of the tile level's text that several printers share.
#pragma once

#include <string>
#include <vector>

#include "tile/program.h"

namespace pando::tile {

// "t3@0x40"; a host side is "host@128".
std::string text_of(TileId tile, std::uint64_t offset);
std::string text_of(const Location& location);
// "t1@0x40 -> t0@0x10 64 bytes", or "... 4 bytes x 8, step 16 -> 4".
std::string text_of(const Move& move);
// "0..5 8 11..12"
std::string text_of(const std::vector<TileId>& tiles);
// ` "the/name"`, or nothing for an empty or invalid one.
std::string quoted(const Program& program, NameId name);
// "V v12 in = t0@0x40[16] out = ...": one vertex with its operands' addresses and its state.
std::string text_of(const Program& program, const Codelet& codelet, const VertexInstance& vertex);
// "[0, 3) [5, 9)"
std::string text_of(const LiveRange& range);

std::uint64_t total_bytes(const std::vector<Move>& moves);

}  // namespace pando::tile
