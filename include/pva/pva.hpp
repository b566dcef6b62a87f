#ifndef pva_pva_hpp
#define pva_pva_hpp

// The report of an engine as data: what the compiler made, and what the runs cost. A part of the original's library: what its reports and
// those of Pando both have.

#include <poplar/Export.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>  // which programs reach through this header
#include <memory>
#include <ostream>
#include <string>
#include <utility>
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
  enum class Type { Ipu, IpuModel, Cpu, Unknown };
  /// IpuModel, whatever device ran the program; Cpu for the CPU target.
  Type type() const;
  /// IPUs and tiles are those of one replica.
  unsigned numIPUs() const;
  unsigned tilesPerIpu() const;
  unsigned numTiles() const;
  unsigned numReplicas() const;
  unsigned ipusPerReplica() const { return numIPUs(); }
  unsigned tilesPerReplica() const { return numTiles(); }
  std::uint64_t memoryPerReplica() const { return totalMemory(); }
  std::uint64_t bytesPerTile() const;
  std::uint64_t bytesPerIPU() const { return bytesPerTile() * tilesPerIpu(); }
  std::uint64_t totalMemory() const { return bytesPerTile() * numTiles(); }
  double clockFrequency() const;
  std::string architecture() const;

 private:
  friend class Compilation;
  explicit Target(std::shared_ptr<const pando::profile::Report> r) : report_(std::move(r)) {}
  std::shared_ptr<const pando::profile::Report> report_;
};

/// Bytes of a category of memory, at the tile's fullest step. None share their place with others here: `overlapped` is 0.
class POPLAR_EXPORT MemoryRegion {
 public:
  std::uint64_t nonOverlapped() const { return bytes_; }
  std::uint64_t overlapped() const { return 0; }

 private:
  friend class MemoryCategory;
  explicit MemoryRegion(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes_;
};

/// One category of a tile's memory. Regions of memory are not told apart: all of it counts as not interleaved.
class POPLAR_EXPORT MemoryCategory {
 public:
  MemoryRegion nonInterleaved() const { return MemoryRegion(bytes_); }
  MemoryRegion interleaved() const { return MemoryRegion(0); }
  MemoryRegion overflowed() const { return MemoryRegion(0); }
  std::uint64_t total() const { return bytes_; }

 private:
  friend class MemoryCategories;
  explicit MemoryCategory(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes_;
};

/// The categories under their public names. What is described in the state of vertices here (vectors, lists, copies) has no bytes of its
/// own.
class POPLAR_EXPORT MemoryCategories {
 public:
  MemoryCategory variable() const { return of("variable"); }
  MemoryCategory constant() const { return of("constant"); }
  MemoryCategory stack() const { return of("stack"); }
  MemoryCategory vertexCode() const { return of("vertex code"); }
  MemoryCategory vertexInstanceState() const { return of("vertex state"); }
  MemoryCategory controlCode() const { return of("control code"); }
  MemoryCategory internalExchangeCode() const { return of("exchange code"); }
  MemoryCategory message() const { return of("exchange buffer"); }
  MemoryCategory copyDescriptor() const { return MemoryCategory(0); }
  MemoryCategory vectorListDescriptor() const { return MemoryCategory(0); }
  MemoryCategory vertexFieldData() const { return MemoryCategory(0); }

 private:
  friend class TileMemory;
  MemoryCategories(std::shared_ptr<const pando::profile::Report> r, std::size_t tile) : report_(std::move(r)), tile_(tile) {}
  MemoryCategory of(const char* name) const;
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t tile_;
};

/// A tile's memory in use, as a number: at the fullest moment, without gaps.
class POPLAR_EXPORT MemoryTotal {
 public:
  std::uint64_t excludingGaps() const { return used_; }
  std::uint64_t includingGaps() const { return with_gaps_; }  ///< the highest address in use
  operator std::uint64_t() const { return used_; }

 private:
  friend class TileMemory;
  MemoryTotal(std::uint64_t used, std::uint64_t with_gaps) : used_(used), with_gaps_(with_gaps) {}
  std::uint64_t used_, with_gaps_;
};

class POPLAR_EXPORT VertexType {
 public:
  std::string name() const { return name_; }  ///< of the codelet

 private:
  friend class VertexInstances;
  explicit VertexType(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

/// The vertices of one codelet in a compute set, or on a tile.
class POPLAR_EXPORT VertexInstances {
 public:
  VertexType type() const { return VertexType(codelet_); }
  std::uint64_t count() const { return count_; }
  /// How many are on each tile.
  std::vector<std::uint64_t> countByTile() const { return by_tile_; }

 private:
  friend class TileMemory;
  friend class ComputeSet;
  VertexInstances(std::string codelet, std::uint64_t count, std::vector<std::uint64_t> by_tile)
      : codelet_(std::move(codelet)), count_(count), by_tile_(std::move(by_tile)) {}
  std::string codelet_;
  std::uint64_t count_;
  std::vector<std::uint64_t> by_tile_;
};

/// Memory of one tile, in bytes.
class POPLAR_EXPORT TileMemory {
 public:
  MemoryTotal total() const;
  /// What does not fit: bytes beyond the tile's memory, without gaps and with them.
  MemoryTotal overflowed() const;
  std::uint64_t totalIncludingGaps() const { return total().includingGaps(); }
  /// Bytes that are live at every step, and the most of others that are live at one step.
  std::uint64_t alwaysLiveBytes() const;
  std::uint64_t notAlwaysLiveBytes() const { return total().excludingGaps() - alwaysLiveBytes(); }
  /// The vertices on the tile, by the codelets' names.
  std::vector<VertexInstances> vertices() const;
  std::uint64_t variables() const;
  MemoryCategories category() const { return MemoryCategories(report_, tile_); }
  /// Bytes of one category of the report ("variable", "vertex state" ...); 0 if there is none of that name.
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
  friend class Ipu;
  Tile(std::shared_ptr<const pando::profile::Report> r, std::size_t tile) : report_(std::move(r)), tile_(tile) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t tile_;
};

/// One IPU of a replica.
class POPLAR_EXPORT Ipu {
 public:
  unsigned id() const { return static_cast<unsigned>(ipu_); }
  std::vector<Tile> tiles() const;

 private:
  friend class Compilation;
  Ipu(std::shared_ptr<const pando::profile::Report> r, std::size_t ipu) : report_(std::move(r)), ipu_(ipu) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t ipu_;
};

/// What has one name and category, over all tiles.
class POPLAR_EXPORT Var {
 public:
  std::string name() const { return name_; }
  std::uint64_t bytes() const { return bytes_; }
  bool alwaysLive() const { return always_live_; }

 private:
  friend class ProgramWithVars;
  Var(std::string name, std::uint64_t bytes, bool always_live) : name_(std::move(name)), bytes_(bytes), always_live_(always_live) {}
  std::string name_;
  std::uint64_t bytes_;
  bool always_live_;
};

class ComputeSet;
class ProgramVisitor;

/// A step of the compiled program, what stands around steps, a call, or a program that was measured as a whole.
class POPLAR_EXPORT Program {
 public:
  enum class Type {
    Unknown,
    StreamCopyBegin,
    StreamCopyMid,
    StreamCopyEnd,
    Sequence,
    Repeat,
    OnTileExecute,
    DoExchange,
    Call,
    If,
    Switch,
    GlobalExchange,
    Sync
  };
  virtual ~Program() = default;
  std::string name() const;
  /// A copy between host and device is one step here: StreamCopyMid. Loops of all kinds are Repeat. An exchange of which anything crosses
  /// IPUs or replicas is a GlobalExchange, other ones are DoExchange.
  Type type() const;
  /// A Repeat has one child, the Sequence of what it repeats, which has the loop's name; a Call the Sequence of its function. An If has a
  /// Sequence for each way that does something, named "true" or "false"; a Switch for each case that does, named by its number or
  /// "default". A Sequence has what it consists of. Other programs have none.
  std::vector<std::shared_ptr<Program>> children() const;
  /// Of two programs of a report, the same if they are.
  std::size_t _id() const { return index_; }
  /// Calls the visitor's function for programs of this type; those without one are not visited.
  virtual void accept(ProgramVisitor& visitor) const;

 protected:
  /// index: 2 i for part i of the report's program, 2 i + 1 for the Sequence in a loop; then blocks; then executed steps that have no part.
  Program(std::shared_ptr<const pando::profile::Report> r, std::size_t index) : report_(std::move(r)), index_(index) {}
  static std::shared_ptr<Program> make(const std::shared_ptr<const pando::profile::Report>& report, std::size_t index);
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t index_;

 private:
  friend class Block;
  friend class Compilation;
  friend class LivenessProgramStep;
  friend class Step;
};

class POPLAR_EXPORT ProgramWithVars : public Program {
 public:
  /// What is live at this step, by name; always live or not are two. Only if the option autoReport.outputLoweredVars was set.
  std::vector<Var> vars() const;

 protected:
  using Program::Program;
};

/// Vertices run.
class POPLAR_EXPORT OnTileExecuteProgram : public ProgramWithVars {
 public:
  ComputeSet computeset() const;
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using ProgramWithVars::ProgramWithVars;
};

class POPLAR_EXPORT ExchangeProgram : public ProgramWithVars {
 public:
  /// Cycles of each tile at one execution, waiting left out. Throws poplar::profiling_disabled if the report has none.
  std::vector<std::uint64_t> estimatedCyclesByTile() const;

 protected:
  using ProgramWithVars::ProgramWithVars;
};

/// Data move between tiles.
class POPLAR_EXPORT DoExchangeProgram : public ExchangeProgram {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using ExchangeProgram::ExchangeProgram;
};

/// Data move between tiles of several IPUs, or between replicas.
class POPLAR_EXPORT GlobalExchangeProgram : public ExchangeProgram {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using ExchangeProgram::ExchangeProgram;
};

/// Streams wait for each other, or for the host.
class POPLAR_EXPORT SyncProgram : public Program {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using Program::Program;
};

/// A call of a function: its child is the function.
class POPLAR_EXPORT CallProgram : public Program {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using Program::Program;
};

/// A choice by a predicate: its children are the ways.
class POPLAR_EXPORT IfProgram : public Program {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using Program::Program;
};

/// A choice by a number: its children are the cases.
class POPLAR_EXPORT SwitchProgram : public Program {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using Program::Program;
};

/// A loop of any kind: its child is what it repeats.
class POPLAR_EXPORT RepeatProgram : public Program {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using Program::Program;
};

class POPLAR_EXPORT SequenceProgram : public Program {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using Program::Program;
};

/// Data move between host and device.
class POPLAR_EXPORT StreamCopyMidProgram : public Program {
 public:
  void accept(ProgramVisitor& visitor) const override;

 private:
  friend class Program;
  using Program::Program;
};

class POPLAR_EXPORT ProgramVisitor {
 public:
  virtual ~ProgramVisitor() = default;
  virtual void visitOnTileExecute(const OnTileExecuteProgram&) {}
  virtual void visitDoExchange(const DoExchangeProgram&) {}
  virtual void visitCall(const CallProgram&) {}
  virtual void visitIf(const IfProgram&) {}
  virtual void visitSwitch(const SwitchProgram&) {}
  virtual void visitRepeat(const RepeatProgram&) {}
  virtual void visitSequence(const SequenceProgram&) {}
  virtual void visitStreamCopyMid(const StreamCopyMidProgram&) {}
  virtual void visitGlobalExchange(const GlobalExchangeProgram&) {}
  virtual void visitSync(const SyncProgram&) {}
};

/// What has one name, category and line of the program, where it is live.
class POPLAR_EXPORT LivenessVariable {
 public:
  std::string name() const { return name_; }
  std::uint64_t size() const { return size_; }  ///< bytes

 private:
  friend class Compilation;
  friend class LivenessMemory;
  friend class LoweredVariable;
  LivenessVariable(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  static std::vector<LivenessVariable> of(const pando::profile::Report& report,
                                          const std::vector<std::pair<std::uint32_t, std::uint64_t>>& residents);
  std::string name_;
  std::uint64_t size_;
};

/// Steps from `start` on and before `end`: positions in Compilation::livenessProgramSteps.
class POPLAR_EXPORT StepInterval {
 public:
  std::size_t start() const { return start_; }
  std::size_t end() const { return end_; }

 private:
  friend class EquivalenceClass;
  StepInterval(std::size_t start, std::size_t end) : start_(start), end_(end) {}
  std::size_t start_, end_;
};

/// What is live at the same steps. 0 is what is live at every step.
class POPLAR_EXPORT EquivalenceClass {
 public:
  std::size_t id() const { return id_; }
  std::vector<StepInterval> steps() const;

 private:
  friend class LoweredVariable;
  EquivalenceClass(std::shared_ptr<const pando::profile::Report> r, std::size_t id) : report_(std::move(r)), id_(id) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t id_;
};

/// A piece of a tile's memory: of a variable, a buffer, code, a stack.
class POPLAR_EXPORT LoweredVariable {
 public:
  std::size_t id() const { return id_; }
  std::size_t _id() const { return id_; }
  std::string name() const;
  std::string category() const;  ///< as the report names it: "variable", "vertex code" ...
  std::uint64_t bytes() const;
  std::uint64_t offset() const;  ///< its address in the tile's memory, in bytes
  unsigned tileId() const;
  bool alwaysLive() const { return equivalenceClass().id() == 0; }
  EquivalenceClass equivalenceClass() const;
  /// Whether it is a part of a variable of the graph, and which one, with its bytes on this tile. The second throws poplar::index_error if
  /// there is none.
  bool hasUnloweredVar() const;
  LivenessVariable unloweredVar() const;

 private:
  friend class LoweredVariables;
  LoweredVariable(std::shared_ptr<const pando::profile::Report> r, std::size_t id) : report_(std::move(r)), id_(id) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t id_;
};

/// The address map of all tiles.
class POPLAR_EXPORT LoweredVariables {
 public:
  /// Of a tile, by address. Throws poplar::index_error for a tile that is not there.
  std::vector<LoweredVariable> forTile(unsigned tile) const;
  /// Of all tiles, by tile and address.
  std::vector<LoweredVariable> allBriefVars() const;

 private:
  friend class Compilation;
  explicit LoweredVariables(std::shared_ptr<const pando::profile::Report> r) : report_(std::move(r)) {}
  std::shared_ptr<const pando::profile::Report> report_;
};

/// What is live at a step, and not at every step: over all tiles, on one, or on those of an IPU.
class POPLAR_EXPORT LivenessMemory {
 public:
  std::uint64_t bytes() const;
  std::vector<LivenessVariable> variables() const;  ///< largest first

 private:
  friend class LivenessProgramStep;
  LivenessMemory(std::shared_ptr<const pando::profile::Report> r, std::size_t part) : report_(std::move(r)), part_(part) {}
  // On the tiles [begin, end).
  LivenessMemory(std::shared_ptr<const pando::profile::Report> r, std::size_t part, std::size_t begin, std::size_t end)
      : report_(std::move(r)), part_(part), all_tiles_(false), begin_(begin), end_(end) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t part_;
  bool all_tiles_ = true;
  std::size_t begin_ = 0, end_ = 0;
};

/// A step that has memory, in the order of the program.
class POPLAR_EXPORT LivenessProgramStep {
 public:
  std::shared_ptr<Program> program() const;
  /// Over all tiles.
  LivenessMemory notAlwaysLiveMemory() const;
  /// On one tile. Throws poplar::index_error if the target does not have it.
  LivenessMemory notAlwaysLiveMemoryForTile(unsigned tile) const;
  /// On the tiles of one IPU. Throws poplar::index_error if the target does not have it.
  LivenessMemory notAlwaysLiveMemoryForIpu(unsigned ipu) const;

 private:
  friend class Compilation;
  LivenessProgramStep(std::shared_ptr<const pando::profile::Report> r, std::size_t part) : report_(std::move(r)), part_(part) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t part_;
};

class POPLAR_EXPORT ComputeSet {
 public:
  std::string name() const;
  std::vector<VertexInstances> vertices() const;
  /// Cycles of each tile at one execution, waiting left out. Throws poplar::profiling_disabled if the report has none.
  std::vector<std::uint64_t> estimatedCyclesByTile() const;

 private:
  friend class Compilation;
  friend class OnTileExecuteProgram;
  ComputeSet(std::shared_ptr<const pando::profile::Report> r, std::size_t index) : report_(std::move(r)), index_(index) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t index_;
};

/// What the compiler made.
class POPLAR_EXPORT Compilation {
 public:
  Graph graph() const { return Graph(report_); }
  Target target() const { return Target(report_); }
  std::vector<Tile> tiles() const;
  std::vector<Ipu> ipus() const;
  /// Those that a program executes.
  std::vector<ComputeSet> computeSets() const;
  /// All steps, loops, branches and functions, in the order of the program; what stands around others comes before them.
  std::vector<std::shared_ptr<Program>> programs() const;
  /// The steps that have memory, with what is live at each.
  std::vector<LivenessProgramStep> livenessProgramSteps() const;
  /// What is live at every step: over all tiles, or on one; largest first. The second throws poplar::index_error for a tile that is not
  /// there.
  std::vector<LivenessVariable> alwaysLiveVariables() const;
  std::vector<LivenessVariable> alwaysLiveVariablesForTile(unsigned tile) const;
  LoweredVariables loweredVariables() const { return LoweredVariables(report_); }
  /// Why the program does not fit; empty if it does.
  std::string outOfMemory() const;

 private:
  friend class Report;
  explicit Compilation(std::shared_ptr<const pando::profile::Report> r) : report_(std::move(r)) {}
  std::shared_ptr<const pando::profile::Report> report_;
};

/// A compute set as a step executes it. Cycles are by tile, summed over the step's executions; empty unless the option
/// debug.instrumentCompute was set. Cycles are always estimates here.
class POPLAR_EXPORT ExecutedComputeSet {
 public:
  std::string name() const;
  std::vector<std::uint64_t> cyclesByTile() const;
  std::vector<std::uint64_t> estimatedCyclesByTile() const { return cyclesByTile(); }

 private:
  friend class Step;
  ExecutedComputeSet(std::shared_ptr<const pando::profile::Report> r, std::size_t step) : report_(std::move(r)), step_(step) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t step_;
};

/// The least and the greatest over tiles, which are the same here.
class POPLAR_EXPORT Bounds {
 public:
  std::uint64_t min() const { return value_; }
  std::uint64_t max() const { return value_; }

 private:
  friend class Interval;
  explicit Bounds(std::uint64_t value) : value_(value) {}
  std::uint64_t value_;
};

/// From `start` to `end`.
class POPLAR_EXPORT Interval {
 public:
  std::uint64_t start() const { return start_; }
  std::uint64_t end() const { return end_; }
  Bounds cyclesFrom() const { return Bounds(start_); }
  Bounds cyclesTo() const { return Bounds(end_); }

 private:
  friend class Run;
  friend class StepOnIpu;
  Interval(std::uint64_t start, std::uint64_t end) : start_(start), end_(end) {}
  std::uint64_t start_, end_;
};

/// What a step costs on one IPU.
class POPLAR_EXPORT StepOnIpu {
 public:
  unsigned id() const { return ipu_; }
  std::uint64_t cycles() const { return end_ - start_; }
  /// When the step is active, in cycles; of a sum over executions from 0 on.
  Interval activeCycles() const { return Interval(start_, end_); }
  /// Tiles that need cycles for the step, waiting left out.
  unsigned activeTiles() const;
  /// The mean cycles of the IPU's tiles, or of the active ones, divided by those of the slowest, from 0 to 1; 0 if none is active.
  double tileBalance() const;
  double activeTileBalance() const;
  /// Of an exchange: bytes that the IPU's tiles receive from tiles, and send to tiles, in all executions of the step. 0 for other steps.
  std::uint64_t dataIn() const;
  std::uint64_t dataOut() const;

 private:
  friend class Step;
  StepOnIpu(std::shared_ptr<const pando::profile::Report> r, std::size_t step, unsigned ipu, std::uint64_t executions, std::uint64_t start,
            std::uint64_t end)
      : report_(std::move(r)), step_(step), ipu_(ipu), executions_(executions), start_(start), end_(end) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t step_;
  unsigned ipu_;
  std::uint64_t executions_, start_, end_;
};

/// One step of the program on one stream, summed over its executions; of Run::steps one execution.
class POPLAR_EXPORT Step {
 public:
  std::string stream() const;
  std::string name() const;
  std::string kind() const;
  std::uint64_t executions() const;
  std::uint64_t cycles() const;
  /// By IPU; 0 cycles on those whose tiles are not the stream's.
  std::vector<StepOnIpu> ipus() const;
  /// Of each tile, waiting left out; empty unless the option debug.instrumentCompute was set. Of one execution the mean of all.
  std::vector<std::uint64_t> cyclesByTile() const;
  /// The step in Compilation::programs(); a step that has no memory of its own (of control) is a Sync or Unknown, and in none of its lists.
  std::shared_ptr<Program> program() const;
  /// One if vertices run, else none.
  std::vector<ExecutedComputeSet> computeSets() const;

 private:
  friend class Execution;
  friend class Run;
  Step(std::shared_ptr<const pando::profile::Report> r, std::size_t step) : report_(std::move(r)), step_(step) {}
  Step(std::shared_ptr<const pando::profile::Report> r, std::size_t step, std::uint64_t start, std::uint64_t end)
      : report_(std::move(r)), step_(step), is_one_(true), start_(start), end_(end) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t step_;
  bool is_one_ = false;  // an execution, from start_ to end_
  std::uint64_t start_ = 0, end_ = 0;
};

/// A run of the engine.
class POPLAR_EXPORT Run {
 public:
  /// That the program gave it: the second argument of poplar::Engine::run.
  std::string name() const;
  /// Which of the engine's programs ran.
  unsigned program() const;
  /// Of the machine's clock.
  Interval cycles() const;
  /// Of the host's clock: how long the host needed for it, after what it needed for the runs before.
  Interval microseconds() const;
  /// Each execution of a step, of all streams, by its begin. Throws poplar::invalid_option where there are more than 1,000,000:
  /// Execution::steps has their sums. None unless the engine reports what it runs (autoReport.outputExecutionProfile).
  std::vector<Step> steps() const;

 private:
  friend class Execution;
  Run(std::shared_ptr<const pando::profile::Report> r, std::size_t run) : report_(std::move(r)), run_(run) {}
  std::shared_ptr<const pando::profile::Report> report_;
  std::size_t run_;
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
  /// In their order: the first 65,536.
  std::vector<Run> runs() const;

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
