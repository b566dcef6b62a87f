#ifndef pva_pva_hpp
#define pva_pva_hpp

// The report of an engine as data: what the compiler made, and what the runs cost. A part of the original's library: memory per
// tile, the target, counts of the graph, and the execution's steps.

#include <poplar/Export.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>  // which programs reach through this header
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace pando {
namespace profile {
struct Report;
}
}  // namespace pando

namespace pva {

class Report;

/// Counts of the graph.
class POPLAR_EXPORT Graph {
 public:
  std::uint64_t numVars() const;
  std::uint64_t numVertices() const;
  std::uint64_t numComputeSets() const;
  std::uint64_t numEdges() const;

 private:
  friend class Compilation;
  explicit Graph(std::shared_ptr<const pando::profile::Report> r) : report_(std::move(r)) {}
  std::shared_ptr<const pando::profile::Report> report_;
};

/// The machine.
class POPLAR_EXPORT Target {
 public:
  enum class Type { Ipu, IpuModel, Cpu };
  unsigned numIPUs() const;
  unsigned tilesPerIpu() const;
  unsigned numTiles() const;
  unsigned numReplicas() const;
  std::uint64_t bytesPerTile() const;
  double clockFrequency() const;
  std::string architecture() const;

 private:
  friend class Compilation;
  explicit Target(std::shared_ptr<const pando::profile::Report> r) : report_(std::move(r)) {}
  std::shared_ptr<const pando::profile::Report> report_;
};

/// Memory of one tile, in bytes.
class POPLAR_EXPORT TileMemory {
 public:
  std::uint64_t total() const;               ///< in use at the fullest moment
  std::uint64_t totalIncludingGaps() const;  ///< the highest address in use
  std::uint64_t vertices() const;            ///< code and state of vertices
  std::uint64_t variables() const;
  /// Bytes of one category of the report ("variable", "vertex_state" ...); 0 if there is none of that name.
  std::uint64_t category(const std::string& name) const;

 private:
  friend class Tile;
  TileMemory(std::shared_ptr<const pando::profile::Report> r, std::size_t tile) : report_(std::move(r)), tile_(tile) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t tile_;
};

class POPLAR_EXPORT Tile {
 public:
  unsigned id() const { return static_cast<unsigned>(tile_); }
  TileMemory memory() const { return TileMemory(report_, tile_); }

 private:
  friend class Compilation;
  Tile(std::shared_ptr<const pando::profile::Report> r, std::size_t tile) : report_(std::move(r)), tile_(tile) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t tile_;
};

/// What the compiler made.
class POPLAR_EXPORT Compilation {
 public:
  Graph graph() const { return Graph(report_); }
  Target target() const { return Target(report_); }
  std::vector<Tile> tiles() const;
  /// Why the program does not fit; empty if it does.
  std::string outOfMemory() const;

 private:
  friend class Report;
  explicit Compilation(std::shared_ptr<const pando::profile::Report> r) : report_(std::move(r)) {}
  std::shared_ptr<const pando::profile::Report> report_;
};

/// One step of the program, summed over its executions.
class POPLAR_EXPORT Step {
 public:
  std::string stream() const;
  std::string name() const;
  std::string kind() const;
  std::uint64_t executions() const;
  std::uint64_t cycles() const;

 private:
  friend class Execution;
  Step(std::shared_ptr<const pando::profile::Report> r, std::size_t step) : report_(std::move(r)), step_(step) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t step_;
};

/// A program that was measured as a whole.
class POPLAR_EXPORT Program {
 public:
  enum class Type { Unknown, StreamCopyBegin, StreamCopyMid, StreamCopyEnd };
  std::string name() const;
  /// A copy between host and device is one step here: StreamCopyMid.
  Type type() const;

 private:
  friend class Block;
  Program(std::shared_ptr<const pando::profile::Report> r, std::size_t block) : report_(std::move(r)), block_(block) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t block_;
};

/// One execution of a program::Block, of another program that profiler.programs.filter names, or of a copy between host and device.
class POPLAR_EXPORT Block {
 public:
  std::uint64_t cyclesFrom() const;
  std::uint64_t cyclesTo() const;
  std::shared_ptr<Program> program() const;
  unsigned tile() const { return tile_; }
  bool isCommon() const { return !isStreamCopy(); }
  bool isStreamCopy() const;
  /// No block is ever flushed: the cycle model keeps them on the host.
  bool isBlockFlush() const { return false; }
  bool isOverflow() const { return false; }

 private:
  friend class Execution;
  Block(std::shared_ptr<const pando::profile::Report> r, std::size_t block, unsigned tile)
      : report_(std::move(r)), block_(block), tile_(tile) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t block_;
  unsigned tile_;
};

/// What the runs cost.
class POPLAR_EXPORT Execution {
 public:
  std::vector<Step> steps() const;
  /// The blocks of what the tile takes part in, by their begin, in the order in which they ran. A tile without anything to do gets those of
  /// the other tiles of its IPU. Blocks are asked for by options of the engine: profiler.blocks.filter, profiler.programs.filter,
  /// debug.instrumentExternalExchange. The first ones of a long run are kept.
  std::vector<Block> blocks(unsigned tile) const;
  std::uint64_t totalCycles() const;
  std::uint64_t runs() const;

 private:
  friend class Report;
  explicit Execution(std::shared_ptr<const pando::profile::Report> r) : report_(std::move(r)) {}
  std::shared_ptr<const pando::profile::Report> report_;
};

class POPLAR_EXPORT Version {
 public:
  std::string string() const;
};

/// Made by poplar::Engine::getReport or openReport. Cheap to copy.
class POPLAR_EXPORT Report {
 public:
  explicit Report(std::shared_ptr<const pando::profile::Report> report) : report_(std::move(report)) {}
  Compilation compilation() const { return Compilation(report_); }
  /// Throws poplar::profiling_disabled if the report has no execution.
  Execution execution() const;
  bool hasExecution() const;
  Version poplarVersion() const { return Version(); }

 private:
  std::shared_ptr<const pando::profile::Report> report_;
};

/// Reads a report that an engine wrote (option autoReport.directory). Where "x.pop" is not there, "x.json" is read. Throws
/// poplar::file_load_error or poplar::parse_error.
POPLAR_EXPORT Report openReport(const std::string& path);

}  // namespace pva

#endif
