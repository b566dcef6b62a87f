// Symbolic addresses to tile addresses, after placement. A move may cross fragments of a shard; it is split where they part.
#pragma once

#include <vector>

#include "compile/plan.h"

namespace pando::compile {

class Resolver {
 public:
  explicit Resolver(const Plan& plan) : plan_(plan) {}
  // Address of bytes that lie in one fragment.
  std::uint64_t address(Address at) const;
  tile::Location location(const SymbolicLocation& l) const;
  // Appends. Moves whose bytes have no memory (never read, never written) are dropped.
  void moves(const std::vector<SymbolicMove>& symbolic, std::vector<tile::Move>& out) const;

 private:
  const Fragment* fragment_at(Address at) const;
  std::uint64_t left_in_fragment(Address at) const;
  // One end of a move that touches `hull`; false if that lies in several fragments, or in none.
  bool place(Address at, Interval hull, TileId& tile, std::uint64_t& offset) const;
  bool one(const SymbolicMove& m, tile::Move& out) const;
  void split(const SymbolicMove& run, std::vector<tile::Move>& out) const;

  const Plan& plan_;
};

// Sorts by destination tile and address; joins what continues at both ends.
void sort_moves(std::vector<tile::Move>& moves, bool merge);

}  // namespace pando::compile
