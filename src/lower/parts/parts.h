// The parts of one lowering, each with what it needs of those before it (the first four: lower/target):
//
//     places         tiles of a place, lines of the user's program
//     libraries      codelets, plans, settings
//     channels       streams and remote buffers
//     cursor         program, piece and function that are being written
//     storages       who lies where; what moves before storage is overwritten
//     layouts        how new variables are mapped
//     memory         what is chosen by what tiles hold
//     destinations   values computed where they will be copied to
//     fusion         a graph's ops in order, element-wise ones in passes
//     functions      called graphs
//
// The programs (programs.cpp) are made with these. A row of an op sees op_lowering.h.
#pragma once

#include "lower/analysis.h"
#include "lower/decisions.h"
#include "lower/lower.h"
#include "lower/parts/destinations.h"
#include "lower/parts/functions.h"
#include "lower/parts/fusion.h"
#include "lower/parts/layouts.h"
#include "lower/parts/memory.h"
#include "lower/parts/storages.h"
#include "lower/parts/telling.h"
#include "lower/target/cursor.h"
#include "lower/target/host_channels.h"
#include "lower/target/libraries.h"
#include "lower/target/places.h"
#include "lower/tile_loads.h"

#include <optional>

namespace pando::lower {

struct Parts {
  Parts(const ir::Module& module, poplar::Graph& graph, const Options& options);
  Parts(const Parts&) = delete;

  const ir::Module& module;
  Analysis analysis;
  Decisions decisions;
  Places places;
  Libraries libraries;
  HostChannels channels;
  Cursor cursor;
  // Of programs with functions, on more than one tile.
  std::optional<TileLoads> loads;
  Storages storages;
  Layouts layouts;
  Memory memory;
  Destinations destinations;
  Telling telling;
  Fusion fusion;
  Functions functions;
};

}  // namespace pando::lower
