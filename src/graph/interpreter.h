// The naive interpreter of the graph level: what a program means, said as plainly as possible. It knows nothing of tiles'
// memory, liveness or exchanges; `compile` and `exec` are tested against it.
//
// Every variable is one flat array per replica. A program runs by walking its tree. A compute set gathers the operands of all
// its vertices into fresh buffers, then calls all kernels, then writes all outputs back. All replicas walk together; where a
// predicate differs between replicas, each branch runs for the replicas that take it.
//
// Each element carries whether it is defined: it has an initial value, or was computed from defined elements only. Results of
// other elements are nobody's promise, so comparisons leave them out; a branch on an undefined element is an error.
//
// Operands of one vertex that share an element that the vertex writes share one buffer, if an order of the elements exists in
// which each of them is contiguous (equal views, overlapping slices): the vertex computes in place. Else each has its own.
//
// Channels have no end here: a program runs in its own order, in which a block is sent before it is received, or that is an error.
//
// Vertices that suspend (pando/tile.hpp) are not supported: the fibers are exec's.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codelet/runtime/tile_context.h"
#include "graph/graph.h"

namespace pando::graph {

// Elements by value: their bytes, and per element 1 if it is defined, else 0.
struct Values {
  std::string bytes;
  std::string defined;
  bool all_defined() const { return defined.find('\0') == std::string::npos; }
};

struct VertexOperands;  // interpreter.cpp's own

class Interpreter {
 public:
  // The host end of a FIFO: fills `block` (to device) or takes it (to host). Its size is the FIFO's.
  using Block = std::function<void(unsigned replica, Values& block)>;
  using HostCode = std::function<void(unsigned replica, const std::vector<const void*>& inputs, const std::vector<void*>& outputs)>;
  struct Printed {
    std::string title;
    unsigned replica = 0;
    ElementType type = ElementType::float_;
    Shape shape;
    Values values;
    PrintFormat format;
  };

  // `graph` must outlive the interpreter; its kernels must be loaded.
  explicit Interpreter(const Graph& graph);

  void connect(const std::string& handle, Block block);
  void connect_host_function(const std::string& handle, HostCode code);

  // Throws what the program's errors say (application_runtime_error), and stream_connection_error for a FIFO, used by the
  // program, that is not connected. Variables keep their contents from one run to the next.
  void run(const ProgramPtr& program);

  Values read(const View& view, unsigned replica) const;
  void write(const View& view, unsigned replica, const Values& values);
  // All rows of a remote buffer, one after the other.
  Values& remote(RemoteBufferId buffer, unsigned replica) { return remotes_[buffer.index()][replica]; }
  const std::vector<Printed>& printed() const { return printed_; }

 private:
  using Replicas = std::vector<unsigned>;
  // What the vertices of one tile see as its memory: reserved ranges at their addresses, then the modules' globals.
  struct TileBlock {
    std::string bytes;
    std::vector<std::uint64_t> globals;
  };

  void step(const ProgramPtr& program, const Replicas& replicas);
  void step(const Sequence& p, const Replicas& r);
  void step(const Execute& p, const Replicas& r);
  void step(const Copy& p, const Replicas& r);
  void step(const HostToDevice& p, const Replicas& r);
  void step(const DeviceToHost& p, const Replicas& r);
  void step(const RemoteRead& p, const Replicas& r);
  void step(const RemoteWrite& p, const Replicas& r);
  void step(const Repeat& p, const Replicas& r);
  void step(const RepeatWhile& p, const Replicas& r);
  void step(const If& p, const Replicas& r);
  void step(const Switch& p, const Replicas& r);
  void step(const Call& p, const Replicas& r);
  void step(const HostCall& p, const Replicas& r);
  void step(const LoadFunction&, const Replicas&) {}
  void step(const Sync&, const Replicas&) {}
  void step(const Print& p, const Replicas& r);
  void step(const Error& p, const Replicas& r);
  void step(const WriteUndef& p, const Replicas& r);
  void step(const CrossReplicaCopy& p, const Replicas& r);
  void step(const CycleStamp& p, const Replicas& r);
  void step(const Send& p, const Replicas& r);
  void step(const Receive& p, const Replicas& r);

  std::int64_t scalar(const View& view, unsigned replica, std::string_view purpose) const;
  Replicas where(const View& predicate, bool wanted, const Replicas& replicas) const;
  std::vector<std::uint64_t> rows(const View& offset, std::size_t count, const RemoteBuffer& buffer, unsigned replica) const;
  void execute(const ComputeSet& set, const View& result, unsigned replica);
  bool call_kernel(const Vertex& vertex, VertexOperands& operands, unsigned replica);
  TileBlock& tile_block(TileId tile, unsigned replica);
  const Block& block_of(const Fifo& fifo) const;

  const Graph& graph_;
  std::vector<std::vector<Values>> variables_;  // [variable][replica]
  std::vector<std::vector<Values>> remotes_;    // [buffer][replica]
  std::map<std::pair<unsigned, TileId>, TileBlock> tiles_;
  std::map<std::string, Block> fifos_;
  std::map<std::string, HostCode> host_functions_;
  std::vector<std::vector<std::deque<Values>>> channels_;  // [channel][replica]: blocks that were sent and not received
  std::vector<Printed> printed_;
};

}  // namespace pando::graph
