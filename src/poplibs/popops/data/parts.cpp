#include "poplibs/popops/data/parts.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"

#include <algorithm>

#include <pando/ownership.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/Util.hpp>
#include <poputil/exceptions.hpp>

namespace popops::internal {

namespace {

constexpr unsigned kLeastElements = 32;

std::size_t count_of(const std::vector<Interval>& regions) {
  std::size_t n = 0;
  for (const Interval& i : regions) n += i.size();
  return n;
}

}  // namespace

void for_each_part_of_tile(const Graph& graph, const Tensor& flat, const std::vector<Interval>& regions, std::size_t bytes, bool once,
                           const std::function<void(const Runs&)>& f) {
  if (count_of(regions) == 0) return;
  const Runs runs = graph.getSortedContiguousRegions(flat, regions, once);
  const unsigned grain = static_cast<unsigned>(std::max<std::size_t>(1, 8 / bytes));
  const unsigned least = pando::poplibs::least_elements(graph.getTarget(), kLeastElements);
  for (const Runs& part : poputil::splitRegionsBetweenWorkers(graph.getTarget(), runs, grain, least))
    if (!part.empty()) f(part);
}

void for_each_part(const Graph& graph, const Tensor& flat, const Mapping& mapping, std::size_t bytes, bool once,
                   const std::function<void(unsigned, const Runs&)>& f) {
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for_each_part_of_tile(graph, flat, mapping[tile], bytes, once, [&](const Runs& runs) { f(tile, runs); });
}

VertexPair vertex_pair(const std::string& name, const std::string& arguments) {
  return {"popops::" + name + "<" + arguments + ">", "popops::" + name + "2d<" + arguments + ">"};
}

VertexRef add_part(Graph& graph, const ComputeSet& cs, const VertexPair& vertex, unsigned tile, const Runs& runs,
                   std::initializer_list<std::pair<const char*, const Tensor*>> fields) {
  const bool one = runs.size() == 1;
  const VertexRef v = graph.addVertex(cs, one ? vertex.one : vertex.many);
  graph.setTileMapping(v, tile);
  for (const auto& [field, tensor] : fields) {
    if (one && runs[0].size() == 1)
      graph.connect(v[field], tensor->slice(runs[0][0]));
    else if (one)
      graph.connect(v[field], tensor->slices(runs)[0]);
    else
      graph.connect(v[field], tensor->slices(runs));
  }
  return v;
}

Tensor output_like(Graph& graph, const Type& type, const Tensor& like, const DebugContext& debug) {
  const Mapping mapping = graph.getTileMapping(like);
  std::size_t most = 0;
  for (const std::vector<Interval>& regions : mapping) most = std::max(most, count_of(regions));
  // A tile may hold a few times its share before work is moved.
  const std::size_t n = like.numElements(), tiles = mapping.size();
  const std::size_t share = std::max<std::size_t>(kLeastElements, (n + tiles - 1) / tiles);
  if (most <= 4 * share && !like.containsAliases()) return graph.clone(type, like, debug);
  const Tensor out = graph.addVariable(type, like.shape(), debug);
  poputil::mapTensorLinearly(graph, out);
  return out;
}

std::vector<unsigned> owners_of(const Graph& graph, const Tensor& flat, std::size_t size) {
  std::vector<unsigned> owner(flat.numElements() / size, 0);
  const Mapping mapping = graph.getTileMapping(flat, nullptr);
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const Interval& i : mapping[tile])
      for (std::size_t block = (i.begin() + size - 1) / size; block * size < i.end(); ++block) owner[block] = tile;
  return owner;
}

Mapping spread(const std::vector<unsigned>& owner, unsigned tiles) {
  std::vector<std::size_t> count(tiles, 0);
  for (const unsigned tile : owner) ++count[tile];
  const std::size_t n = owner.size(), share = (n + tiles - 1) / tiles;
  const bool well_spread = *std::max_element(count.begin(), count.end()) <= 2 * share;
  Mapping mapping(tiles);
  for (std::size_t block = 0; block < n; ++block) {
    std::vector<Interval>& mine = mapping[well_spread ? owner[block] : block / share];
    if (!mine.empty() && mine.back().end() == block)
      mine.back() = Interval(mine.back().begin(), block + 1);
    else
      mine.emplace_back(block, block + 1);
  }
  return mapping;
}

Mapping of_elements(Mapping blocks, std::size_t size) {
  for (std::vector<Interval>& list : blocks)
    for (Interval& i : list) i = Interval(i.begin() * size, i.end() * size);
  return blocks;
}

void fail(const char* where, const std::string& message) {
  poputil::reject("movement-operands", "{}", std::string(where) + ": " + message);
}

void check_writable(const char* where, const char* what, const Tensor& t) {
  if (!t.isParallelWriteable())
    fail(where, std::string(what) + " of shape " + t.shapeToString() + " is written: it must not hold constants, nor an element twice");
}

void check_own(const char* where, const Graph& graph, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* t : tensors) pando::require_own(graph, *t, where);
}

void check_same_shape(const char* where, const char* name_a, const Tensor& a, const char* name_b, const Tensor& b) {
  const auto greater = [](std::vector<std::size_t> shape) {
    std::erase(shape, std::size_t{1});
    return shape;
  };
  if (a.shape() == b.shape() || greater(a.shape()) == greater(b.shape())) return;
  fail(where, std::string(name_b) + " has shape " + b.shapeToString() + "; expected that of " + name_a + ", " + a.shapeToString());
}

const Type& bits_type(std::size_t bytes) {
  switch (bytes) {
    case 1: return poplar::UNSIGNED_CHAR;
    case 2: return poplar::UNSIGNED_SHORT;
    case 4: return poplar::UNSIGNED_INT;
    default: return poplar::UNSIGNED_LONGLONG;
  }
}

}  // namespace popops::internal
