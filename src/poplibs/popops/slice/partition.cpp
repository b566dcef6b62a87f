#include "poplibs/popops/slice/partition.h"

#include <pando/cpu_device.hpp>

#include <algorithm>
#include <cmath>

#include "machine/host.h"

namespace popops::internal {

namespace {

constexpr double kSyncCycles = 150;

constexpr pando::Host kHost;

double tile_bytes(const poplar::Target& target, const SliceProblem& p) { return p.memory * static_cast<double>(target.getBytesPerTile()); }

// Sizes of the largest part.
struct Largest {
  double rows, columns, lookups, chunk;  // chunk: results that one tile has in the end
};

Largest largest_part(const SliceProblem& p, const Partition& part) {
  Largest l{};
  l.rows = static_cast<double>(ceil_div(p.rows, part.rows));
  l.columns = static_cast<double>(std::min(p.columns, ceil_div(ceil_div(p.columns, p.grain), part.columns) * p.grain));
  l.lookups = static_cast<double>(ceil_div(p.lookups, part.lookups));
  l.chunk = static_cast<double>(ceil_div(p.lookups, part.lookups * part.rows));
  return l;
}

double slice_cycles(const SliceProblem& p, const Partition& part, double bytes_per_cycle) {
  const Largest l = largest_part(p, part);
  const double row = l.columns * static_cast<double>(p.type_bytes);
  const double spread = static_cast<double>(part.lookups - 1) / static_cast<double>(part.lookups);
  double cycles = kSyncCycles + (4 * l.lookups + spread * l.rows * row) / bytes_per_cycle;
  if (part.rows == 1) return cycles + l.lookups * (12 + row / 4);
  cycles += 2 * l.lookups + l.chunk * (10 + row / 4);  // look at all, copy the hits
  return cycles + kSyncCycles + l.lookups * row / bytes_per_cycle + l.chunk * (10 + row / 4);
}

double update_cycles(const SliceProblem& p, const Partition& part, double bytes_per_cycle) {
  const Largest l = largest_part(p, part);
  const double row = l.columns * static_cast<double>(p.type_bytes), n = static_cast<double>(p.lookups);
  const double hits = n / static_cast<double>(part.rows * part.lookups);
  return kSyncCycles + n * (4 + row) / bytes_per_cycle + 2 * n + hits * (10 + row / 2);
}

// Bytes on the tile that needs most, beside the table.
double temporary_bytes(const SliceProblem& p, const Partition& part, double lookups) {
  SliceProblem some = p;
  some.lookups = static_cast<std::size_t>(std::max(1.0, lookups));
  const Largest l = largest_part(some, part);
  const double row = l.columns * static_cast<double>(p.type_bytes);
  const double table = part.lookups > 1 ? l.rows * row : 0;
  const double slice = p.slice ? table + l.lookups * (4 + 2 * row) : 0;
  const double update = p.update ? static_cast<double>(some.lookups) * (4 + row) : 0;
  return std::max(slice, update);
}

// Values that n / x takes, largest x for each.
std::vector<std::size_t> splits(std::size_t n) {
  std::vector<std::size_t> out;
  for (std::size_t x = 1; x <= n; ++x)
    if (out.empty() || n / x != n / out.back())
      out.push_back(x);
    else
      out.back() = x;
  return out;
}

}  // namespace

std::size_t column_grain(std::size_t columns, std::size_t type_bytes) {
  return std::max<std::size_t>(1, std::min(columns, 16 / type_bytes));
}

std::size_t part_begin(std::size_t n, std::size_t grain, std::size_t parts, std::size_t i) {
  return std::min(n, ceil_div(n, grain) * i / parts * grain);
}

namespace {

// Every part of the rows looks at all indices of its share. Rows that are not cut are found once.
double host_nanoseconds(const poplar::Target& target, const SliceProblem& p, const Partition& part) {
  const double n = static_cast<double>(p.lookups), row = largest_part(p, part).columns * static_cast<double>(p.type_bytes);
  const double columns = static_cast<double>(part.columns), tiles = static_cast<double>(part.parts());
  const double rounds = std::ceil(n / static_cast<double>(lookups_per_round(target, p, part)));
  const double hits = n * columns * (kHost.row + row / kHost.moved_bytes),
               looks = n * columns * static_cast<double>(part.rows) * kHost.look;
  double all = 0;
  if (p.slice) all += looks + hits + (part.rows > 1 ? hits : 0) + rounds * (part.rows > 1 ? 2 : 1) * tiles * kHost.row_vertex;
  if (p.update) all += looks * static_cast<double>(std::min(part.lookups, kMostHolders)) + 2 * hits + rounds * tiles * kHost.row_vertex;
  return all;
}

// Each part of the rows looks at the indices anew. For the host fewer are better, as long as the tables of a program find room beside each
// other.
bool has_room_for_table(const poplar::Target& target, const SliceProblem& p, std::size_t row_parts, std::size_t column_parts) {
  constexpr std::size_t kTablesOfTile = 8;
  const std::size_t bytes = ceil_div(p.rows, row_parts) * ceil_div(p.columns, column_parts) * p.type_bytes;
  return p.host && bytes * kTablesOfTile <= target.getBytesPerTile();
}

}  // namespace

double cost_of(const poplar::Target& target, const SliceProblem& p, const Partition& part) {
  const double bytes_per_cycle = target.getExchangeBytesPerCycle();
  double cycles = 0;
  if (p.host) cycles = host_nanoseconds(target, p, part);
  if (p.slice && !p.host) cycles += slice_cycles(p, part, bytes_per_cycle);
  if (p.update && !p.host) cycles += update_cycles(p, part, bytes_per_cycle);
  const double need = temporary_bytes(p, part, 1), have = tile_bytes(target, p);
  return need > have ? cycles * (2 + need / have) : cycles;  // a table part alone that does not fit
}

std::size_t lookups_per_round(const poplar::Target& target, const SliceProblem& p, const Partition& part) {
  if (pando::has_memory_for_all(target)) return p.lookups;
  const double none = temporary_bytes(p, part, 1), all = temporary_bytes(p, part, static_cast<double>(p.lookups));
  const double have = std::max(tile_bytes(target, p), 2 * none);
  if (all <= have) return p.lookups;
  const auto rounds = static_cast<std::size_t>((all - none) / (have - none)) + 1;
  return ceil_div(p.lookups, rounds);
}

Partition choose_partition(const poplar::Target& target, const SliceProblem& p) {
  if (p.rows == 0 || p.columns == 0 || p.lookups == 0) return {};
  const std::size_t tiles = target.getNumTiles();
  std::vector<Partition> candidates;
  std::size_t most = 0;
  const std::size_t shares = p.update ? kMostHolders : tiles;
  for (const std::size_t columns : splits(std::min(tiles, ceil_div(p.columns, p.grain))))
    for (const std::size_t lookups : splits(std::min({tiles / columns, p.lookups, shares}))) {
      const Partition part{std::min(tiles / columns / lookups, p.rows), columns, lookups};
      candidates.push_back(part);
      most = std::max(most, part.parts());
      for (std::size_t fewer = 2; fewer <= part.rows && has_room_for_table(target, p, part.rows / fewer, columns); fewer *= 2)
        candidates.push_back({part.rows / fewer, columns, lookups});
    }
  Partition best;
  double least = 1e300;
  for (const Partition& part : candidates) {
    // Some tables are so small that few tiles are as good as all: then the cost decides alone.
    const bool worth = p.rows * p.columns + p.lookups * p.columns >= 32 * most;
    if (worth && part.parts() * 20 < most * (p.host ? 5 : 19)) continue;
    const double cost = cost_of(target, p, part);
    if (cost < least) least = cost, best = part;
  }
  return best;
}

}  // namespace popops::internal
