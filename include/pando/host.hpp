#ifndef pando_host_hpp
#define pando_host_hpp

// What host programs can ask for beyond public Poplar. The device half is pando/tile.hpp.
//
// Engine options of this library, "true" or "false" unless said otherwise:
//   pando.threads         worker threads (a number; 0: PANDO_THREADS, or as many as the host has processors)
//   pando.vertexSeconds   standard error names a vertex that has not ended for so many seconds (default 10; 0: never)
//   pando.cycleModel      count cycles while running (default true)
//   pando.exchangeModel   landing (default) or simple: how the cycle model prices exchanges
//   pando.bind            bind read-only operands to the source's bytes where that is proven safe (default true)
//   pando.tileByTile      receive and compute tile by tile (default true)
//   pando.prefetchTiles   bring what the next tiles' vertices touch first into the cache (default true)
//   pando.mergeMoves      join adjacent moves of an exchange (default true)
//   pando.shareMemory     variables that are not live together share addresses (default true)
//   pando.splitVariables  liveness per byte range, not per variable (default true)
//   pando.inferIoTiles    tiles that only host copies touch become a stream of their own (default true)
//   pando.validate        check every plan of the compiler with the slow checkers (default false)
//   pando.poisonUndefined WriteUndef fills with a pattern (default false)

#include <poplar/Export.hpp>
#include <poplar/StringRef.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace poplar {
class Graph;
class Engine;
}  // namespace poplar

namespace pando {

/// Gives the bytes of the initial image `name`, which codelets name for their reserved range of tile memory. They are copied, and
/// mapped into every tile that runs such a codelet, copy-on-write. Setting an image again replaces it.
POPLAR_EXPORT void set_image(poplar::Graph& graph, poplar::StringRef name, const void* data, std::size_t size);

/// Restores the images and per-tile globals of one tile and drops its suspended vertices. Variables keep their values. The engine
/// is loaded and not running. Throws poplar_error if it is not loaded, invalid_tile_mapping or graph_replication_error if there is
/// no such tile or replica.
POPLAR_EXPORT void reset_tile(poplar::Engine& engine, unsigned tile, unsigned replica = 0);

/// Calls `f` after each step of a run that works (compute, exchange, host copy ...), with its name in the source program: on a thread of
/// the run, for steps of different IPUs also at the same time. It has to be quick. An empty function ends it. The engine is not running.
POPLAR_EXPORT void on_step(poplar::Engine& engine, std::function<void(poplar::StringRef what)> f);

/// Once `flag` is true, what the calling thread compiles (compileGraph, the constructor of Engine, Graph::addVertex and addVariable, so op
/// libraries too) throws a std::exception, "stopped", within a second; the graph is good for nothing then but destruction. Null: nothing
/// stops it any more. A run ends by Engine::stop().
POPLAR_EXPORT void stop_compiling_when(const std::atomic<bool>* flag);

/// While it lives, the variables and compute sets of a graph that libraries make belong to a line of the user's program, which reports
/// name. An inner scope hides an outer one; line 0 leaves the outer one's. Scopes of a graph end in the reverse order, before the graph.
class POPLAR_EXPORT SourceScope {
 public:
  SourceScope(poplar::Graph& graph, const char* file, unsigned line);
  ~SourceScope();
  SourceScope(const SourceScope&) = delete;
  SourceScope& operator=(const SourceScope&) = delete;

 private:
  std::uint32_t* site_;
  std::uint32_t outer_;
};

/// Says which instruction stream of its IPU a tile belongs to: the IO tiles' or the compute tiles'. Tiles of which nothing is said
/// are sorted by what touches them. Throws invalid_tile_mapping if there is no such tile.
POPLAR_EXPORT void set_tile_group(poplar::Graph& graph, unsigned tile, bool io);

}  // namespace pando

#endif
