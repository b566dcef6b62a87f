#include <algorithm>
#include <cmath>

#include "cycles/step_cost.h"

namespace pando::cycles {

namespace {

struct Path {
  double bytes_per_second = 0;
  double latency_seconds = 0;
};

Path host_path(const Machine& m) { return {m.host_bytes_per_second, m.host_latency_seconds}; }
Path streaming_path(const Machine& m) { return {m.streaming_bytes_per_second, m.streaming_latency_seconds}; }

std::uint64_t path_cycles(const Machine& machine, const Path& path, std::uint64_t bytes) {
  if (path.bytes_per_second <= 0 || bytes == 0) return 0;
  return static_cast<std::uint64_t>(
      std::ceil((path.latency_seconds + static_cast<double>(bytes) / path.bytes_per_second) * machine.clock_hz));
}

}  // namespace

std::uint64_t transfer_cycles(const tile::Program& program, const tile::Transfer& transfer) {
  const Machine& machine = program.machine;
  std::vector<std::uint64_t> bytes(machine.ipus);
  for (const tile::Move& m : transfer.moves) {
    TileId tile = m.source_tile.valid() ? m.source_tile : m.destination_tile;
    bytes[machine.ipu_of(tile).index()] += std::uint64_t{m.bytes} * m.count;
  }
  // A host byte that goes to many tiles passes the host link of an IPU once.
  std::uint64_t busiest = 0;
  for (std::uint64_t b : bytes) busiest = std::max(busiest, transfer.to_device ? std::min(b, transfer.host_bytes) : b);
  return path_cycles(machine, transfer.kind == tile::Transfer::Kind::remote ? streaming_path(machine) : host_path(machine), busiest);
}

std::uint64_t load_code_cycles(const tile::Program& program, StreamId stream, std::uint32_t order) {
  const std::vector<TileId>& tiles = program.streams[stream.index()].tiles;
  // Tiles that load the same code get it from one broadcast: count each name once.
  std::vector<std::pair<tile::NameId, std::uint64_t>> code;
  for (const tile::Allocation& a : program.allocations) {
    if (a.category != tile::Category::vertex_code || a.always_live) continue;
    const tile::LiveRange& live = program.live_ranges[a.live];
    bool begins_here = std::any_of(live.begin(), live.end(), [&](auto& range) { return range.first == order; });
    if (begins_here && std::binary_search(tiles.begin(), tiles.end(), a.tile)) code.emplace_back(a.name, a.size);
  }
  std::sort(code.begin(), code.end());
  code.erase(std::unique(code.begin(), code.end()), code.end());
  std::uint64_t bytes = 0;
  for (auto& [name, size] : code) bytes += size;
  return path_cycles(program.machine, streaming_path(program.machine), bytes);
}

}  // namespace pando::cycles
