// Where things begin on the tiles, by what lies there already.
#include "pando/placing.hpp"

#include <algorithm>
#include <numeric>

#include "facade/engine/engine_state.h"
#include "facade/state/state.h"
#include "graph/residents.h"

namespace pando {

using facade::Access;

namespace {

// Rotated, a thing has to find its tiles emptier by so many bytes, and by this share of what lies on a tile on average, or by so many more.
constexpr std::uint64_t kWorthBytes = 1024, kWorthShare = 8, kWorthMore = 3072;
// Looks at a tile, for one choice.
constexpr std::size_t kMostLooks = std::size_t{1} << 16;

unsigned machine_tile(const poplar::core::GraphState& state, unsigned tile) { return state.tiles.empty() ? tile : state.tiles[tile]; }

unsigned rotated_tile(unsigned tile, unsigned per_ipu, unsigned rotation) {
  return tile / per_ipu * per_ipu + (tile % per_ipu + rotation) % per_ipu;
}

// Of a form of tiles at even distances, rotations by more than the distance give the same tiles again.
unsigned different_rotations(const std::vector<TileBytes>& form, unsigned per_ipu) {
  std::vector<bool> has(per_ipu, false);
  for (const TileBytes& t : form) has[t.tile % per_ipu] = true;
  for (unsigned period = 1; period < per_ipu; ++period) {
    if (per_ipu % period != 0) continue;
    bool same = true;
    for (unsigned t = 0; t < per_ipu && same; ++t) same = has[t] == has[(t + period) % per_ipu];
    if (same) return period;
  }
  return per_ipu;
}

}  // namespace

std::vector<std::uint64_t> resident_bytes(const poplar::Graph& graph) {
  poplar::core::GraphShared& shared = Access::shared(graph);
  const auto& state = Access::state(graph);
  const auto all = shared.residents.bytes(shared.graph);
  std::vector<std::uint64_t> own(state.target.getNumTiles());
  for (unsigned t = 0; t < own.size(); ++t) own[t] = all[machine_tile(state, t)];
  return own;
}

std::vector<std::uint64_t> resident_bytes(const poplar::Engine& engine) {
  const tile::Program& program = *Access::state(engine).executable->program;
  std::vector<std::uint64_t> bytes(program.machine.tiles(), 0);
  for (const tile::Allocation& a : program.allocations)
    if (a.always_live) bytes[a.tile.index()] += a.size;
  return bytes;
}

void count_as_resident(poplar::Graph& graph, const poplar::Tensor& tensor) {
  poplar::core::GraphShared& shared = Access::shared(graph);
  for (const VariableId v : Access::view(graph, tensor, "the tensor of count_as_resident").variables())
    shared.residents.keep(shared.graph, v);
}

void count_as_created(poplar::Graph& graph, const poplar::Tensor& tensor) {
  if (Access::shared(graph).residents.counts_created) count_as_resident(graph, tensor);
}

void count_created(poplar::Graph& graph, bool on) { Access::shared(graph).residents.counts_created = on; }

unsigned choose_rotation(const poplar::Graph& graph, const std::vector<TileBytes>& form) {
  const auto& state = Access::state(graph);
  const unsigned per_ipu = state.target.getTilesPerIPU(), tiles = state.target.getNumTiles();
  for (const TileBytes& t : form) Access::physical_tile(graph, t.tile, t.tile < tiles ? "" : "choose_rotation");
  if (form.empty() || per_ipu < 2 || !Access::shared(graph).residents.rotates) return 0;
  const std::vector<std::uint64_t> now = resident_bytes(graph);
  const unsigned rotations = different_rotations(form, per_ipu);
  // Bytes on the fullest of its tiles, and what lies there for each of its bytes.
  const auto cost = [&](unsigned rotation) {
    std::uint64_t most = 0, bytes = 1, met = 0;
    for (const TileBytes& t : form) {
      const std::uint64_t there = now[rotated_tile(t.tile, per_ipu, rotation)];
      most = std::max(most, there + t.bytes), bytes += t.bytes, met += there * t.bytes;
    }
    return most + met / bytes;
  };
  const auto step = static_cast<unsigned>(std::max<std::size_t>(1, form.size() * rotations / kMostLooks));
  const std::uint64_t as_it_is = cost(0);
  unsigned best = 0;
  std::uint64_t least = as_it_is;
  for (unsigned r = step; r < rotations; r += step)
    if (const std::uint64_t there = cost(r); there < least) least = there, best = r;
  const std::uint64_t mean = std::accumulate(now.begin(), now.end(), std::uint64_t{0}) / now.size();
  return as_it_is - least >= 2 * (kWorthBytes + std::min(mean / kWorthShare, kWorthMore)) ? best : 0;
}

poplar::Graph rotated(poplar::Graph& graph, unsigned rotation) {
  const auto& state = Access::state(graph);
  const unsigned per_ipu = state.target.getTilesPerIPU();
  if (rotation % per_ipu == 0) return Access::graph({state.shared, state.target, state.tiles, state.replication});
  std::vector<unsigned> tiles(state.target.getNumTiles());
  for (unsigned t = 0; t < tiles.size(); ++t) tiles[t] = machine_tile(state, rotated_tile(t, per_ipu, rotation));
  return Access::graph({state.shared, state.target, std::move(tiles), state.replication});
}

unsigned rotation_between(const poplar::Graph& graph, unsigned from, unsigned to) {
  const unsigned per_ipu = Access::state(graph).target.getTilesPerIPU();
  return from / per_ipu == to / per_ipu ? (to % per_ipu + per_ipu - from % per_ipu) % per_ipu : 0;
}

void rotate_placements(poplar::Graph& graph, bool on) { Access::shared(graph).residents.rotates = on; }

}  // namespace pando
