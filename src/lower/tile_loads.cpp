#include "lower/tile_loads.h"

#include <pando/mapping.hpp>

#include <algorithm>
#include <numeric>

namespace pando::lower {

using poplar::Tensor;

namespace {

// Of a tile's memory: so much above the mean is no reason yet to exchange instead of copying.
constexpr std::uint64_t kSlack = 32;

}  // namespace

Tensor in_memory_order(const poplar::Graph& graph, const Tensor& clone) {
  const Tensor whole = graph.getVariable(clone.flatten().slice(0, 1).getVarRegions()[0].var).flatten();
  return whole.numElements() == clone.numElements() ? whole : clone.flatten();
}

TileLoads::TileLoads(const poplar::Target& target, unsigned io_tiles)
    : tiles_per_ipu_(target.getTilesPerIPU()),
      computing_(tiles_per_ipu_ - io_tiles),
      slack_(target.getBytesPerTile() / kSlack),
      loads_(target.getNumTiles(), 0),
      ipus_(target.getNumIPUs()) {
  for (unsigned t = 0; t < loads_.size(); ++t)
    if (t % tiles_per_ipu_ < computing_) add_to_level(ipus_[t / tiles_per_ipu_], 0, t);
}

void TileLoads::put(unsigned tile, std::uint64_t bytes) {
  if (tile % tiles_per_ipu_ < computing_) ipus_[tile / tiles_per_ipu_].total += bytes;
  loads_[tile] += bytes;
}

void TileLoads::add_to_level(Ipu& ipu, std::uint64_t load, unsigned tile) {
  Level& level = ipu.levels[load];
  level.sorted = level.sorted && (level.tiles.empty() || level.tiles.back() < tile);
  level.tiles.push_back(tile);
}

unsigned TileLoads::least_loaded(Ipu& ipu) const {
  for (;;) {
    auto& [load, level] = *ipu.levels.begin();
    if (level.next == level.tiles.size()) {
      ipu.levels.erase(ipu.levels.begin());
      continue;
    }
    if (!level.sorted) std::sort(level.tiles.begin() + static_cast<std::ptrdiff_t>(level.next), level.tiles.end());
    level.sorted = true;
    const unsigned tile = level.tiles[level.next];
    if (load == loads_[tile]) return tile;
    ++level.next;
    add_to_level(ipu, loads_[tile], tile);
  }
}

void TileLoads::add(const poplar::Graph& graph, const Tensor& t, double share) {
  const std::uint64_t width = graph.getTarget().getTypeSize(t.elementType());
  elements_.assign(loads_.size(), 0);
  for (const TileInterval& i : tile_intervals(graph, t)) elements_[i.tile] += i.end - i.begin;
  for (unsigned tile = 0; tile < elements_.size(); ++tile)
    if (elements_[tile] > 0) put(tile, static_cast<std::uint64_t>(share * static_cast<double>(elements_[tile] * width)));
}

void TileLoads::spread(poplar::Graph& graph, const Tensor& clone, unsigned count) {
  if (clone.numElements() == 0) return;
  const Tensor whole = in_memory_order(graph, clone);
  std::vector<TileInterval> parts = tile_intervals(graph, whole);
  const std::uint64_t width = graph.getTarget().getTypeSize(clone.elementType()) * count;
  // In the order of the tiles that they are on.
  order_.resize(parts.size());
  std::iota(order_.begin(), order_.end(), 0u);
  const auto by_tile = [&](std::uint32_t a, std::uint32_t b) { return std::pair(parts[a].tile, a) < std::pair(parts[b].tile, b); };
  if (!std::is_sorted(order_.begin(), order_.end(), by_tile)) std::sort(order_.begin(), order_.end(), by_tile);
  bool moves = false;
  for (const std::uint32_t i : order_) {
    TileInterval& part = parts[i];
    Ipu& ipu = ipus_[part.tile / tiles_per_ipu_];
    const std::uint64_t bytes = (part.end - part.begin) * width, mean = ipu.total / computing_;
    const bool stays = part.tile % tiles_per_ipu_ >= computing_ || loads_[part.tile] + bytes <= mean + slack_;
    if (!stays) part.tile = least_loaded(ipu);
    put(part.tile, bytes);
    moves = moves || !stays;
  }
  if (moves) set_tile_intervals(graph, whole, parts);
}

}  // namespace pando::lower
