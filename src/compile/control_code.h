// How many control instructions each tile has. A tile has one for each step that it takes part in, one for each stretch of steps of its
// stream that it lets pass (however many: it waits for their syncs by number), two for each loop, branch and call. Forgetting a value
// (WriteUndef) is no step.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/plan.h"

namespace pando::compile {

class ControlCode {
 public:
  explicit ControlCode(const Plan& plan);
  // Adds the instructions of a program or a function's body to each tile's number.
  void count(const Node& root, std::vector<std::uint64_t>& instructions);

 private:
  // Steps are numbered from 1 on. Those of all tiles of a stream are kept once, for the stream: their numbers, the instructions of all up
  // to each, and how many of them follow a stretch of others.
  struct Stream {
    std::uint32_t steps = 0;
    std::vector<std::uint32_t> common, instructions, stretches;
  };
  void visit(const Node& node, std::vector<std::uint64_t>& instructions);
  void add_common(StreamId stream, std::uint32_t instructions);
  // What the tile has between its last step and step `next`.
  std::uint64_t between(const Stream& stream, std::uint32_t last, std::uint32_t next) const;
  const std::vector<TileId>& tiles_of(ActionId action);
  void collect(const Action& action, std::vector<TileId>& tiles);

  const Plan& plan_;
  std::vector<Stream> streams_;
  std::uint32_t collection_ = 0;                   // of the tiles of an action
  std::vector<std::uint32_t> collected_;           // TileId: the last collection that has it
  std::vector<std::uint32_t> last_;                // TileId: the number of its last own step
  std::vector<std::vector<TileId>> participants_;  // ActionId: found at the first use
  std::vector<std::uint8_t> found_;                // ActionId
};

}  // namespace pando::compile
