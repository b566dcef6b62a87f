// Mappings by rule: contiguous parts of equal size on consecutive tiles.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"
#include "poputil/TileMapping.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using pando::poplibs::ceil_div;
using poplar::Graph;
using poplar::Interval;
using poplar::Target;
using poplar::Tensor;
using Mapping = Graph::TileToTensorMapping;

// Where no grain is asked for: parts begin on addresses that vectors can be loaded from, and are worth a vertex.
constexpr std::size_t kGrainBytes = 8, kMinBytes = 64;

std::size_t elements_of(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (const std::size_t size : shape) n *= size;
  return n;
}

struct Rule {
  std::size_t min_elements, grain;
  static Rule of(const Target& target, const poplar::Type& type) {
    const std::size_t size = target.getTypeSize(type);
    return {std::max<std::size_t>(1, kMinBytes / size), std::max<std::size_t>(1, kGrainBytes / size)};
  }
};

// How many tiles n elements go to: parts are whole grains, no fewer than the minimum.
std::size_t parts_of(std::size_t n, std::size_t tiles, const Rule& rule) {
  if (n == 0) return 0;
  const std::size_t grains = ceil_div(n, rule.grain);
  const std::size_t min_grains = std::max<std::size_t>(1, ceil_div(rule.min_elements, rule.grain));
  return std::clamp<std::size_t>(grains / min_grains, 1, tiles);
}

Mapping linear(std::size_t n, std::size_t tiles, Rule rule, unsigned offset, bool ascending) {
  if (tiles == 0) poputil::reject("no-tiles", "calcLinearTileMapping: the target has no tiles");
  rule.grain = std::max<std::size_t>(1, rule.grain);
  Mapping mapping(tiles);
  const std::size_t parts = parts_of(n, tiles, rule);
  const std::size_t grains = ceil_div(n, rule.grain);
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = grains * i / parts * rule.grain;
    const std::size_t end = std::min(n, grains * (i + 1) / parts * rule.grain);
    mapping[transformTileIndex(static_cast<unsigned>(i), static_cast<unsigned>(tiles), offset, ascending)] = {Interval(begin, end)};
  }
  return mapping;
}

// One step of a hash that is the same everywhere: FNV-1a over the bytes of a number.
std::uint64_t hashed(std::uint64_t hash, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> (8 * byte) & 0xff)) * 0x100000001b3;
  return hash;
}

}  // namespace

unsigned transformTileIndex(unsigned tile, unsigned numTiles, unsigned offset, bool ascending) {
  if (tile >= numTiles) poputil::reject("no-such-tile", "transformTileIndex: tile {} of {}", tile, numTiles);
  const unsigned moved = static_cast<unsigned>((std::uint64_t{tile} + offset) % numTiles);
  return ascending ? moved : numTiles - 1 - moved;
}

unsigned invTransformTileIndex(unsigned tile, unsigned numTiles, unsigned offset, bool ascending) {
  if (tile >= numTiles) poputil::reject("no-such-tile", "invTransformTileIndex: tile {} of {}", tile, numTiles);
  const unsigned counted = ascending ? tile : numTiles - 1 - tile;
  return static_cast<unsigned>((std::uint64_t{counted} + numTiles - offset % numTiles) % numTiles);
}

Mapping calcLinearTileMapping(const Target& target, std::vector<std::size_t> shape, unsigned minElementsPerTile, unsigned grainSize,
                              unsigned offset, bool ascendingOrder) {
  return linear(elements_of(shape), target.getNumTiles(), {minElementsPerTile, grainSize}, offset, ascendingOrder);
}

Mapping calcLinearTileMapping(const Graph& graph, std::vector<std::size_t> shape, unsigned minElementsPerTile, unsigned grainSize,
                              unsigned offset, bool ascendingOrder) {
  return calcLinearTileMapping(graph.getTarget(), std::move(shape), minElementsPerTile, grainSize, offset, ascendingOrder);
}

Mapping calcLinearTileMapping(const Target& target, const std::vector<std::size_t> shape, poplar::Type elementType, unsigned offset,
                              bool ascendingOrder) {
  return linear(elements_of(shape), target.getNumTiles(), Rule::of(target, elementType), offset, ascendingOrder);
}

Mapping calcLinearTileMapping(const Graph& graph, const Tensor& t, unsigned offset, bool ascendingOrder) {
  return calcLinearTileMapping(graph.getTarget(), t.shape(), t.elementType(), offset, ascendingOrder);
}

std::pair<Mapping, unsigned> calcLinearTileMappingAndNewOffset(const Graph& graph, const Tensor& t, unsigned offset) {
  const std::size_t tiles = graph.getTarget().getNumTiles();
  const std::size_t parts = parts_of(t.numElements(), tiles, Rule::of(graph.getTarget(), t.elementType()));
  return {calcLinearTileMapping(graph, t, offset), static_cast<unsigned>((offset + parts) % tiles)};
}

void mapTensorLinearlyWithOffset(Graph& graph, const Tensor& t, unsigned minElementsPerTile, unsigned grainSize, unsigned offset,
                                 bool ascendingOrder) {
  graph.setTileMapping(t, calcLinearTileMapping(graph, t.shape(), minElementsPerTile, grainSize, offset, ascendingOrder));
}

void mapTensorLinearly(Graph& graph, const Tensor& t, unsigned minElementsPerTile, unsigned grainSize) {
  mapTensorLinearlyWithOffset(graph, t, minElementsPerTile, grainSize, 0);
}

void mapTensorLinearlyWithOffset(Graph& graph, const Tensor& t, unsigned offset, bool ascendingOrder) {
  graph.setTileMapping(t, calcLinearTileMapping(graph, t, offset, ascendingOrder));
}

void mapTensorLinearly(Graph& graph, const Tensor& t) { mapTensorLinearlyWithOffset(graph, t); }

std::size_t chooseMappingOffset(std::size_t numTiles, const std::vector<std::size_t>& shape, std::size_t seed) {
  if (numTiles == 0) poputil::reject("no-tiles", "chooseMappingOffset: no tiles");
  std::uint64_t hash = hashed(0xcbf29ce484222325, seed);
  for (const std::size_t size : shape) hash = hashed(hash, size);
  return (hash ^ hash >> 32) % numTiles;
}

std::size_t chooseMappingOffset(std::size_t numTiles, const std::vector<std::size_t>& shape) {
  return chooseMappingOffset(numTiles, shape, 0);
}

unsigned getTileImbalance(const Mapping& mapping, unsigned minElementsPerTile, unsigned grainSize) {
  if (mapping.empty()) return 0;
  std::size_t total = 0, fullest = 0;
  for (const std::vector<Interval>& regions : mapping) {
    std::size_t here = 0;
    for (const Interval& region : regions) here += region.size();
    total += here;
    fullest = std::max(fullest, here);
  }
  const std::size_t grain = std::max(1u, grainSize);
  const std::size_t parts = parts_of(total, mapping.size(), {minElementsPerTile, grain});
  const std::size_t balanced = parts ? ceil_div(ceil_div(total, grain), parts) * grain : 0;
  return static_cast<unsigned>(fullest > balanced ? fullest - balanced : 0);
}

unsigned getTileImbalance(const Graph& graph, const Tensor& t, unsigned minElementsPerTile, unsigned grainSize) {
  return getTileImbalance(graph.getTileMapping(t), minElementsPerTile, grainSize);
}

}  // namespace poputil
