// Exchange plans. From "these elements go there" to moves: each byte that a tile needs and does not hold arrives once
// (contract 11), in no more descriptors than there are maximal contiguous runs.
#pragma once

#include <vector>

#include "compile/plan.h"

namespace pando::compile {

// Element i of `source` to element i of `destination`; same number of elements, same element size.
std::vector<SymbolicMove> moves_between(const Plan& plan, const graph::View& source, const graph::View& destination);
// Is every element of the view another one, as its strides alone say? False: it is not known. O(dimensions).
bool reads_once(const graph::View& view);
// The elements of `view`, in order, from (to) consecutive bytes of `block` starting at `offset`. An invalid block is the host.
std::vector<SymbolicMove> moves_from_block(const Plan& plan, ShardId block, std::uint64_t offset, const graph::View& view);
std::vector<SymbolicMove> moves_to_block(const Plan& plan, const graph::View& view, ShardId block, std::uint64_t offset);

// Joins neighbours that continue each other at both ends. Order does not matter.
void merge_moves(std::vector<SymbolicMove>& moves);

// Joins runs at equal steps between the same two shards where thousands arrive at one shard in turns with those of others, as the columns
// of a matrix do whose rows lie on many tiles; nothing where that gains little. `moves`: as merge_moves leaves them.
void merge_turns(std::vector<SymbolicMove>& moves);

// An exchange of these moves, all of whose reads come before all of its writes. Moves from a place to itself are dropped; where
// the destinations touch the sources, the data are staged in temporaries; what a tile gets twice arrives once and is copied
// there. No byte is a destination twice. `reads_once`: nor is one a source twice, which need not be looked for then.
SymbolicExchange plan_exchange(Plan& plan, tile::NameId name, std::vector<SymbolicMove> moves, bool reads_once = false);

// Splits an exchange into parts whose streams have nothing to do with each other, adds an action with its accesses for each
// part. `op` is Op::exchange, or Op::cross_replica with `b`.
std::vector<ActionId> add_exchange_actions(Plan& plan, SymbolicExchange exchange);

// Accesses of a list of moves: reads of the sources, writes of the destinations. `reads_once`: no byte is a source twice.
void add_move_accesses(Plan& plan, ActionId action, const std::vector<SymbolicMove>& moves, bool reads_once = false);

// One of its runs.
SymbolicMove run_of(const SymbolicMove& m, std::uint32_t index);

// The first and last byte that one side of a move touches.
Interval source_hull(const SymbolicMove& m);
Interval destination_hull(const SymbolicMove& m);

}  // namespace pando::compile
