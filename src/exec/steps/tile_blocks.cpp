// How tiles are cut into blocks, by what comes for them.
#include <algorithm>

#include "exec/moves/spans.h"
#include "exec/steps/tile_by_tile.h"

namespace pando::exec {
namespace {

// Bytes that come for a block: a part of a thread's second cache for whole tiles, of its first one for parts of a tile.
constexpr std::uint64_t kBlock = 64 << 10, kPart = 16 << 10;

// Where one tile may be cut: before a vertex, at an address that parts all that vertices before it read in near buffers from what the
// others read.
class TileCuts {
 public:
  TileCuts(const tile::Program& program, const Library& library, const tile::ComputeStep& step, const NearBuffers& near)
      : program_(program), library_(library), step_(step), near_(near), next_(step.groups.size()), at_{0, 0} {}

  // Of the tile, whose moves begin at `at_` of each list; tiles come in ascending order.
  std::vector<TileBlocks::End> of(TileId tile, const tile::Exchange& exchange) {
    std::vector<TileBlocks::End> cuts;
    std::size_t groups = 0;
    for (std::size_t k = 0; k < step_.groups.size(); ++k) {
      const tile::VertexGroup& g = step_.groups[k];
      while (next_[k] < g.count && program_.vertices[g.first + next_[k]].tile < tile) ++next_[k];
      if (next_[k] == g.count || program_.vertices[g.first + next_[k]].tile != tile) continue;
      if (++groups == 1) cuts = between_vertices(g, next_[k], tile);
    }
    if (groups != 1) cuts.clear();
    drop_crossed(tile, exchange, cuts);
    return cuts;
  }

 private:
  struct Reach {
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
  };

  Reach reach_of(const tile::VertexInstance& v, const Codelet& codelet) const {
    Reach reach;
    for_each_operand(program_, codelet, v, [&](const Field& f, const tile::Operand& o) {
      if (o.count == 0 || near_.find(o.tile, o.offset) == nullptr) return;
      reach.low = std::min(reach.low, o.offset);
      reach.high = std::max(reach.high, o.offset + o.count * size_of(f.type));
    });
    return reach;
  }

  std::vector<TileBlocks::End> between_vertices(const tile::VertexGroup& g, std::uint32_t first, TileId tile) const {
    std::vector<Reach> reaches;
    for (std::uint32_t i = first; i < g.count && program_.vertices[g.first + i].tile == tile; ++i)
      reaches.push_back(reach_of(program_.vertices[g.first + i], library_[g.codelet]));
    std::vector<std::uint64_t> low(reaches.size() + 1, ~std::uint64_t{0});  // of this vertex and those after it
    for (std::size_t i = reaches.size(); i-- > 0;) low[i] = std::min(low[i + 1], reaches[i].low);
    std::vector<TileBlocks::End> cuts;
    std::uint64_t high = 0;
    for (std::size_t i = 0; i < reaches.size(); ++i) {
      if (high > 0 && low[i] != ~std::uint64_t{0} && low[i] >= high && (cuts.empty() || cuts.back().address < low[i]))
        cuts.push_back({tile, low[i], first + static_cast<std::uint32_t>(i)});
      high = std::max(high, reaches[i].high);
    }
    return cuts;
  }

  // A move belongs to one block; what is arranged from a near buffer has to be in its own.
  void drop_crossed(TileId tile, const tile::Exchange& exchange, std::vector<TileBlocks::End>& cuts) {
    const std::vector<tile::Move>* const lists[] = {&exchange.receive, &exchange.arrange};
    for (std::size_t k = 0; k < 2; ++k)
      for (; at_[k] < lists[k]->size() && (*lists[k])[at_[k]].destination_tile <= tile; ++at_[k]) {
        const tile::Move& m = (*lists[k])[at_[k]];
        if (cuts.empty() || m.destination_tile != tile) continue;
        const Span to = destination_of(m), from = source_of(m);
        const bool near_to = near_.find(to.tile, to.begin) != nullptr, near_from = near_.find(from.tile, from.begin) != nullptr;
        if (near_from && !near_to) cuts.clear();
        if (!near_to) continue;
        const std::uint64_t low = near_from ? std::min(to.begin, from.begin) : to.begin;
        const std::uint64_t high = near_from ? std::max(to.end, from.end) : to.end;
        std::erase_if(cuts, [&](const TileBlocks::End& c) { return low < c.address && c.address < high; });
      }
  }

  const tile::Program& program_;
  const Library& library_;
  const tile::ComputeStep& step_;
  const NearBuffers& near_;
  std::vector<std::uint32_t> next_;  // vertex of each group
  std::size_t at_[2];                // move of each list
};

// As few of the cuts as leave no more than kPart bytes between them.
void take_cuts(const std::vector<TileBlocks::End>& cuts, const NearBuffers& near, TileId tile, std::vector<TileBlocks::End>& ends) {
  const Interval reach = near.reach_of(tile);
  std::uint64_t begin = reach.begin;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::uint64_t next = i + 1 < cuts.size() ? cuts[i + 1].address : reach.end;
    if (next - begin <= kPart) continue;
    ends.push_back(cuts[i]);
    begin = cuts[i].address;
  }
}

}  // namespace

TileBlocks cut_into_blocks(const tile::Program& program, const Library& library, const tile::Exchange& exchange,
                           const tile::ComputeStep& step, std::span<const TileId> ends, const NearBuffers& near) {
  std::vector<std::uint64_t> bytes(ends.empty() ? 0 : ends.back().index());
  for (const auto* list : {&exchange.receive, &exchange.arrange})
    for (const tile::Move& m : *list) bytes[m.destination_tile.index()] += std::uint64_t{m.bytes} * m.count;
  TileBlocks blocks;
  TileCuts cuts(program, library, step, near);
  std::uint32_t t = 0;
  for (const TileId end : ends) {
    std::uint64_t sum = 0;
    for (; t < end.value; ++t) {
      if (sum > 0 && sum + bytes[t] > kBlock) blocks.ends.push_back({TileId(t)}), sum = 0;
      sum += bytes[t];
      if (!near.empty()) take_cuts(cuts.of(TileId(t), exchange), near, TileId(t), blocks.ends);
    }
    blocks.ends.push_back({end});
    blocks.chunk_end.push_back(static_cast<std::uint32_t>(blocks.ends.size()));
  }
  return blocks;
}

}  // namespace pando::exec
