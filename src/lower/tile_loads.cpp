#include "lower/tile_loads.h"

namespace pando::lower {

using poplar::Interval;
using poplar::Tensor;

namespace {

// Of a tile's memory: so much above the mean is no reason yet to exchange instead of copying.
constexpr std::uint64_t kSlack = 32;

// The variable that a clone is a view of, in the order of its memory, where a tile's elements are few intervals; else the clone.
Tensor in_memory_order(const poplar::Graph& graph, const Tensor& clone) {
  const Tensor whole = graph.getVariable(clone.flatten().slice(0, 1).getVarRegions()[0].var).flatten();
  return whole.numElements() == clone.numElements() ? whole : clone.flatten();
}

}  // namespace

TileLoads::TileLoads(const poplar::Target& target, unsigned io_tiles)
    : tiles_per_ipu_(target.getTilesPerIPU()),
      computing_(tiles_per_ipu_ - io_tiles),
      slack_(target.getBytesPerTile() / kSlack),
      loads_(target.getNumTiles(), 0),
      ipus_(target.getNumIPUs()) {
  for (unsigned t = 0; t < loads_.size(); ++t)
    if (t % tiles_per_ipu_ < computing_) ipus_[t / tiles_per_ipu_].by_load.emplace(0, t);
}

void TileLoads::put(unsigned tile, std::uint64_t bytes) {
  if (tile % tiles_per_ipu_ < computing_) ipus_[tile / tiles_per_ipu_].total += bytes;
  loads_[tile] += bytes;
}

unsigned TileLoads::least_loaded(Ipu& ipu) const {
  for (;;) {
    const auto [load, tile] = ipu.by_load.top();
    if (load == loads_[tile]) return tile;
    ipu.by_load.pop();
    ipu.by_load.emplace(loads_[tile], tile);
  }
}

void TileLoads::add(const poplar::Graph& graph, const Tensor& t, double share) {
  const auto mapping = graph.getTileMapping(t, false);
  const std::uint64_t width = graph.getTarget().getTypeSize(t.elementType());
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    std::uint64_t elements = 0;
    for (const Interval& i : mapping[tile]) elements += i.size();
    if (elements > 0) put(tile, static_cast<std::uint64_t>(share * static_cast<double>(elements * width)));
  }
}

void TileLoads::spread(poplar::Graph& graph, const Tensor& clone, unsigned count) {
  if (clone.numElements() == 0) return;
  const Tensor whole = in_memory_order(graph, clone);
  const auto home = graph.getTileMapping(whole, false);
  const std::uint64_t width = graph.getTarget().getTypeSize(clone.elementType()) * count;
  poplar::Graph::TileToTensorMapping mapping;  // where a part moves; else it lies as it did
  for (unsigned tile = 0; tile < home.size(); ++tile)
    for (const Interval& part : home[tile]) {
      Ipu& ipu = ipus_[tile / tiles_per_ipu_];
      const std::uint64_t bytes = part.size() * width, mean = ipu.total / computing_;
      const bool stays = tile % tiles_per_ipu_ >= computing_ || loads_[tile] + bytes <= mean + slack_;
      const unsigned to = stays ? tile : least_loaded(ipu);
      put(to, bytes);
      if (stays) continue;
      mapping.resize(home.size());
      mapping[to].push_back(part);
    }
  if (!mapping.empty()) graph.setTileMapping(whole, mapping);
}

}  // namespace pando::lower
