#ifndef pva_pva_hpp
#define pva_pva_hpp

// The report of an engine as data: what the compiler made, and what the runs cost. A part of the original's library: memory per
// tile, the target, counts of the graph, and the execution's steps.

#include <poplar/Export.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace pando {
namespace profile {
struct Report;
}
} // namespace pando

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
  std::uint64_t total() const;             ///< in use at the fullest moment
  std::uint64_t totalIncludingGaps() const;///< the highest address in use
  std::uint64_t vertices() const;          ///< code and state of vertices
  std::uint64_t variables() const;
  /// Bytes of one category of the report ("variable", "vertex_state" ...); 0 if there is none of that name.
  std::uint64_t category(const std::string &name) const;

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

/// What the runs cost.
class POPLAR_EXPORT Execution {
public:
  std::vector<Step> steps() const;
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
POPLAR_EXPORT Report openReport(const std::string &path);

} // namespace pva

#endif
