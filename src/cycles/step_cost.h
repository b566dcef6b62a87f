// What one step costs, from the program alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cycles/cycle_model.h"
#include "tile/program.h"

namespace pando::cycles {

// The parts of a compute step's vertices that belong to one codelet.
struct CodeletShare {
  CodeletId codelet;
  std::uint64_t instances = 0;
  std::uint64_t cycles = 0;       // of the vertices themselves
  std::uint64_t counted = 0;      // instances without an estimate of the program whose code was counted
  std::uint64_t unestimated = 0;  // instances of which neither is known
};

// A tile: launch + max(workers * slowest worker, sum of multi and supervisor vertices). Worker vertices go to the six workers
// longest first, each to the one that is free first. The step: its slowest tile.
struct ComputeCost {
  std::uint64_t cycles = 0;
  double balance = 0;                // mean over `tiles` / slowest
  std::vector<std::uint64_t> tiles;  // flat: begin, end, cycles of each tile from begin to end ...
  std::uint64_t vertices = 0;
  std::uint64_t unestimated = 0;
  std::vector<CodeletShare> codelets;
  // The slowest tile (the lowest of several), the slowest vertex on it, and how many of its workers have a vertex.
  TileId slowest_tile;
  CodeletId slowest_codelet;
  std::uint64_t slowest_cycles = 0;
  std::uint32_t used_workers = 0;
};
// `cycles`: of each vertex of the step, in the order of its groups; empty: their estimates.
ComputeCost compute_cost(const tile::Program& program, const tile::ComputeStep& step, std::span<const VertexKind> kinds, std::size_t tiles,
                         std::span<const std::uint64_t> cycles = {});

// Exchange between tiles of one IPU: internal; between IPUs: global; within a tile: local copies.
struct ExchangeCost {
  std::uint64_t exchange = 0;
  std::uint64_t local_copy = 0;
  std::uint64_t global_exchange = 0;
  bool crosses_tiles = false;
  bool crosses_ipus = false;
  std::vector<std::uint64_t> received;  // [stream]: bytes that its tiles receive from others
};
ExchangeCost exchange_cost(const tile::Program& program, const tile::Exchange& exchange, std::span<const StreamId> stream_of_tile,
                           Options::Exchange model);

// The moves of an exchange, made between replicas instead of within each.
ExchangeCost cross_replica_cost(const tile::Program& program, const tile::Exchange& exchange,
                                std::span<const std::pair<std::uint32_t, std::uint32_t>> replicas,
                                std::span<const StreamId> stream_of_tile);

// What a step is, in reports: StepRow::kind, "remote" of a transfer of a remote buffer.
std::string kind_of(const tile::Program& program, const tile::Instruction& instruction);

// Cycles of a transfer to or from the host or Streaming Memory.
std::uint64_t transfer_cycles(const tile::Program& program, const tile::Transfer& transfer);

// Cycles of bringing a function's code to the tiles of `stream`: the code that begins to live at step `order`.
std::uint64_t load_code_cycles(const tile::Program& program, StreamId stream, std::uint32_t order);

// Cycles from the sync to the arrival of the first word at `destination` (both on one IPU).
std::uint64_t landing_cycles(const Machine& machine, TileId source, TileId destination);

}  // namespace pando::cycles
