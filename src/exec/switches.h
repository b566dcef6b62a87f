// The switches of exec::Options, once: engine options, their documentation and the fuzzer's combinations are made from this list.
#pragma once

#include "exec/runner.h"

namespace pando::exec {

// Results are the same with and without.
struct Switch {
  const char* name;
  bool Options::* field;
  const char* what;
};

inline constexpr Switch kSwitches[] = {
    {"tileByTile", &Options::tile_by_tile, "tiles receive and compute one by one where nobody can tell"},
    {"nearBuffers", &Options::near_buffers, "what an exchange brings for the next compute step alone stays in the cache of the thread"},
    {"prefetchTiles", &Options::prefetch_tiles, "what the next tiles touch first is brought into the cache"},
    {"stridedVertices", &Options::strided_vertices, "vertices whose operands lie at equal strides run without being looked up"},
    {"movesInBlocks", &Options::moves_in_blocks,
     "small moves that read all over memory go block by block, as transposes where they are some"},
    {"linger", &Options::linger, "threads wait a little for the next run before they sleep"},
};

}  // namespace pando::exec
