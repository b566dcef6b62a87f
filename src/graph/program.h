// Control programs: a tree of immutable nodes. A Program is shared and never changed once another node holds it; the public
// facade copies on write (Sequence::add).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/values/format_tensor.h"
#include "graph/views/view.h"

namespace pando::graph {

struct Program;
using ChannelId = Id<struct ChannelTag>;
using ProgramPtr = std::shared_ptr<const Program>;

struct Sequence {
  std::vector<ProgramPtr> steps;
  bool is_block = false; /* measured as a whole, where asked for */
};
struct Execute {
  ComputeSetId compute_set;
  View result; /* invalid, or a boolean that receives the AND of the results */
};
// Element i of `source` goes to element i of `destination`. All reads come before all writes.
struct Copy {
  View source, destination;
};
struct HostToDevice {
  FifoId fifo;
  View destination;
};
struct DeviceToHost {
  FifoId fifo;
  View source;
};
// Rows `offset[i]` (UNSIGNED_INT elements; invalid: row 0) of the buffer to or from the rows of `tensor`.
struct RemoteRead {
  RemoteBufferId buffer;
  View tensor, offset;
};
struct RemoteWrite {
  RemoteBufferId buffer;
  View tensor, offset;
};
struct Repeat {
  std::uint64_t count;
  ProgramPtr body;
};
struct RepeatWhile {
  ProgramPtr condition;
  View predicate;
  bool until; /* true: RepeatWhileFalse */
  ProgramPtr body;
};
struct If {
  View predicate;
  ProgramPtr then_body, else_body;
};
struct Switch {
  View control;
  std::vector<std::pair<std::int32_t, ProgramPtr>> cases;
  ProgramPtr default_body;
};
struct Call {
  FunctionId function;
};
struct HostCall {
  HostFunctionId function;
  std::vector<View> inputs, outputs;
};
// Copies the code of a function from Streaming Memory to the tiles; Call may follow until the next load over it.
struct LoadFunction {
  FunctionId function;
};
enum class SyncScope { internal, external, global };
struct Sync {
  SyncScope scope;
};
struct Print {
  std::string title;
  View tensor;
  PrintFormat format;
};
struct Error {
  std::string message;
  View tensor;
  View condition; /* invalid: always */
};
struct WriteUndef {
  View tensor;
};
// The elements of `source` become a block of the channel; a block of it goes to `destination`.
struct Send {
  ChannelId channel;
  View source;
};
struct Receive {
  ChannelId channel;
  View destination;
};
// Replica r's `source` goes to replica map[r]'s `destination`.
struct CrossReplicaCopy {
  View source, destination;
  std::vector<std::pair<unsigned, unsigned>> map;
};
// Writes the stream's cycle counter of `tile` into `stamp` (UNSIGNED_INT[2], low word first).
struct CycleStamp {
  View stamp;
  TileId tile;
};

// Trees are walked, copied and freed by recursion: no deeper ones are made, calls of functions included.
constexpr std::uint32_t kMostNesting = 1000;

using ProgramBody =
    std::variant<Sequence, Execute, Copy, HostToDevice, DeviceToHost, RemoteRead, RemoteWrite, Repeat, RepeatWhile, If, Switch, Call,
                 HostCall, LoadFunction, Sync, Print, Error, WriteUndef, CrossReplicaCopy, CycleStamp, Send, Receive>;

// A line of the user's program.
struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
};

struct Program {
  std::string name;  // debug path, may be empty
  ProgramBody body;
  std::uint32_t graph = 0;                             // Graph::serial() of all that it names; 0: nothing
  std::uint32_t depth = 1;                             // of the tree
  std::shared_ptr<const SourceLine> source = nullptr;  // that made it, if that is known
};

template <class Body>
ProgramPtr make_program(Body body, std::string name = {}) {
  return std::make_shared<const Program>(Program{std::move(name), std::move(body)});
}

}  // namespace pando::graph
