#include "exec/steps/tile_by_tile.h"
#include "codelet/foreign_call.h"

#include <algorithm>
#include <tuple>

#include "exec/moves/spans.h"

namespace pando::exec {
namespace {

// Does a span of one list touch one of the other?
bool touch(std::vector<Span>& a, std::vector<Span>& b) {
  const auto by_place = [](const Span& x, const Span& y) { return std::tuple(x.tile, x.begin) < std::tuple(y.tile, y.begin); };
  for (std::vector<Span>* list : {&a, &b})
    if (!std::is_sorted(list->begin(), list->end(), by_place)) std::sort(list->begin(), list->end(), by_place);
  // Each list's highest end so far on the tile at hand: a span that begins below the other's touches it.
  std::uint64_t end_a = 0, end_b = 0;
  TileId tile;
  for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    const bool take_a = k == b.size() || (i < a.size() && by_place(a[i], b[k]));
    const Span& s = take_a ? a[i++] : b[k++];
    if (s.tile != tile) tile = s.tile, end_a = end_b = 0;
    if (s.begin < (take_a ? end_b : end_a) && s.begin < s.end) return true;
    std::uint64_t& end = take_a ? end_a : end_b;
    end = std::max(end, s.end);
  }
  return false;
}

// What vertices write, and what they read on tiles of others.
void collect(const tile::Program& program, const Library& library, const tile::ComputeStep& step, std::vector<Span>& written,
             std::vector<Span>& read_elsewhere) {
  for_each_operand(program, library, step, [&](const tile::VertexInstance& v, const Field& f, const tile::Operand& o) {
    if (o.count == 0) return;
    const Span span{o.tile, o.offset, o.offset + o.count * size_of(f.type)};
    if (f.is_written()) written.push_back(span);
    if (o.tile != v.tile) read_elsewhere.push_back(span);
  });
}

bool by_destination_tile(const tile::Move& a, const tile::Move& b) { return a.destination_tile < b.destination_tile; }

}  // namespace

bool may_run_tile_by_tile(const tile::Program& program, const Library& library, const tile::Exchange& exchange,
                          const tile::ComputeStep& step) {
  for (const tile::VertexGroup& g : step.groups)
    if (runs_on_tile(library, library[g.codelet])) return false;  // it may write anywhere on its tile
  for (const auto* list : {&exchange.receive, &exchange.arrange})
    if (!std::is_sorted(list->begin(), list->end(), by_destination_tile)) return false;
  std::vector<Span> written, read_elsewhere, sent, arriving;
  collect(program, library, step, written, read_elsewhere);
  for (const tile::Move& m : exchange.receive) {
    if (m.source_tile != m.destination_tile) sent.push_back(source_of(m));
    arriving.push_back(destination_of(m));
  }
  for (const tile::Move& m : exchange.arrange) {
    if (m.source_tile != m.destination_tile) return false;
    written.push_back(destination_of(m));
    arriving.push_back(destination_of(m));
  }
  return !touch(sent, written) && !touch(read_elsewhere, arriving);
}

std::vector<TileId> cut_by_tile(const tile::Program& program, const Library& library, const tile::Exchange& exchange,
                                const tile::ComputeStep& step, unsigned threads) {
  std::vector<std::uint64_t> cost(program.machine.tiles());
  for (const auto* list : {&exchange.receive, &exchange.arrange})
    for (const tile::Move& m : *list) cost[m.destination_tile.index()] += MovePlan::cost_of(m);
  for (const tile::VertexGroup& g : step.groups)
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i)
      cost[program.vertices[i].tile.index()] += vertex_cost(program, library[g.codelet], program.vertices[i]);
  std::uint64_t total = 0, most = 0;
  for (const std::uint64_t c : cost) total += c, most = std::max(most, c);
  if (threads > 1 && most > total / (4 * threads)) return {};
  const std::uint64_t target = std::max<std::uint64_t>(total / (4 * threads), 200);
  std::vector<TileId> ends;
  std::uint64_t sum = 0;
  for (std::uint32_t t = 0; t < cost.size(); ++t) {
    sum += cost[t];
    if (sum < target && t + 1 < cost.size()) continue;
    ends.push_back(TileId(t + 1));
    sum = 0;
  }
  return ends;
}

std::size_t TileBlocks::block_of(TileId tile, std::uint64_t address) const {
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), End{tile, address, 0}) - ends.begin());
}

// Where each near buffer is in the memory of its chunk: the blocks of a chunk use the same bytes. Returns how many a chunk needs.
std::uint64_t TileByTile::place_near_buffers() {
  constexpr std::uint64_t kAlign = 128;  // any field's: an address keeps what is left of it
  std::vector<NearBuffer> pieces;        // none in two blocks
  for (const NearBuffer& b : near_.list())
    for (NearBuffer rest = b; rest.begin < b.end; rest.begin = pieces.back().end) {
      const TileBlocks::End& end = blocks_.ends[blocks_.block_of(b.tile, rest.begin)];
      pieces.push_back(rest);
      if (end.tile == b.tile) pieces.back().end = std::min(b.end, end.address);
    }
  std::uint64_t at = 0, most = 0;
  std::size_t block = 0;
  for (NearBuffer& b : pieces) {
    const std::size_t own = blocks_.block_of(b.tile, b.begin);
    if (own != block) at = 0;
    block = own;
    at += (b.begin - at) % kAlign;
    b.place = at;
    at += b.end - b.begin;
    most = std::max(most, at);
  }
  near_ = NearBuffers(std::move(pieces));
  return (most + kAlign - 1) / kAlign * kAlign;
}

// A move into near memory has an invalid tile there, and counts from its chunk's part of it.
void TileByTile::Moves::build(const std::vector<tile::Move>& moves, const TileBlocks& blocks, const NearBuffers& near,
                              std::uint64_t stride) {
  std::array<std::vector<std::vector<tile::Move>>, 4> parts;
  for (auto& kind : parts) kind.resize(blocks.ends.size());
  for (tile::Move m : moves) {
    const NearBuffer* const to = near.find(m.destination_tile, destination_of(m).begin);
    const std::size_t block = blocks.block_of(m.destination_tile, to != nullptr ? to->begin : 0);
    const NearBuffer* const from = near.find(m.source_tile, source_of(m).begin);
    if (to != nullptr) m.destination_tile = TileId(), m.destination += to->place - to->begin;
    if (from != nullptr) m.source_tile = TileId(), m.source += from->place - from->begin;
    parts[(to != nullptr ? kToNear : 0) + (from != nullptr ? kFromNear : 0)][block].push_back(m);
  }
  for (std::size_t kind = 0; kind < parts.size(); ++kind) plans[kind] = MovePlan::build_parts(parts[kind], stride);
}

void TileByTile::Moves::run_before(std::uint32_t next, std::uint32_t block, char* tiles, char* near) const {
  for (unsigned kind = 0; kind < plans.size(); ++kind) {
    if (plans[kind].empty()) continue;
    char* const to = (kind & kToNear) != 0 ? near : tiles;
    if ((kind & kFromNear) != 0)
      plans[kind].run(block, to, near);
    else
      plans[kind].run_before(next, block, to, tiles);
  }
}

void TileByTile::Moves::run(std::uint32_t block, char* tiles, char* near) const {
  for (unsigned kind = 0; kind < plans.size(); ++kind)
    if (!plans[kind].empty()) plans[kind].run(block, (kind & kToNear) != 0 ? near : tiles, (kind & kFromNear) != 0 ? near : tiles);
}

TileByTile::TileByTile(const tile::Program& program, const Library& library, const tile::Exchange& exchange, const tile::ComputeStep& step,
                       const Descriptors::Group* groups, CountedVertices& counted, std::span<const TileId> ends, char* base,
                       std::uint64_t stride, TileContexts& contexts, NearBuffers near, bool prefetches)
    : contexts_(contexts),
      places_(program, library, static_cast<std::size_t>(&step - program.computes.data())),
      counted_(counted),
      base_(base),
      prefetches_(prefetches),
      blocks_(cut_into_blocks(program, library, exchange, step, ends, near)),
      near_(std::move(near)) {
  if (!near_.empty()) {
    near_bytes_ = place_near_buffers();
    near_memory_ = Mapping(near_bytes_ * chunks(), "buffers of the threads");
    objects_ = near_objects(program, library, step, stride);
    groups = objects_->groups(0);
  }
  receive_.build(exchange.receive, blocks_, near_, stride);
  arrange_.build(exchange.arrange, blocks_, near_, stride);
  std::vector<std::uint32_t> next(step.groups.size());  // vertex of each group
  for (const TileBlocks::End& end : blocks_.ends) {
    for (std::size_t k = 0; k < step.groups.size(); ++k) {
      const tile::VertexGroup& g = step.groups[k];
      const std::uint32_t begin = next[k];
      const auto tile = [&] { return program.vertices[g.first + next[k]].tile; };
      while (next[k] < g.count && tile() < end.tile) ++next[k];
      if (end.address > 0 && next[k] < g.count && tile() == end.tile) next[k] = end.vertices;
      if (next[k] > begin)
        ranges_.push_back({library[g.codelet].kernel, groups[k].first + begin * groups[k].stride, groups[k].stride, next[k] - begin,
                           static_cast<std::uint32_t>(k), begin});
    }
    range_end_.push_back(static_cast<std::uint32_t>(ranges_.size()));
  }
}

// The step's vertices again, whose operands in near buffers are there.
std::unique_ptr<Descriptors> TileByTile::near_objects(const tile::Program& program, const Library& library, const tile::ComputeStep& step,
                                                      std::uint64_t stride) const {
  return std::make_unique<Descriptors>(program, library, step, [&, this](const tile::Operand& o) -> void* {
    const NearBuffer* const b = near_.find(o.tile, o.offset);
    if (b == nullptr) return base_ + o.tile.index() * stride + o.offset;
    const std::size_t block = blocks_.block_of(o.tile, b->begin);
    const auto chunk = std::upper_bound(blocks_.chunk_end.begin(), blocks_.chunk_end.end(), block) - blocks_.chunk_end.begin();
    return near_of(static_cast<unsigned>(chunk)) + b->place + (o.offset - b->begin);
  });
}

struct TileByTile::Running final : WatchedRange {
  Running(TileByTile& w, std::uint32_t first, std::uint32_t stop) : work(w), i(first), last(stop) {}
  std::uint64_t position() const override {
    return (std::uint64_t{i} << 32) + __atomic_load_n(&guard.at, __ATOMIC_RELAXED);  // which kernels write
  }
  std::string place() const override {
    const Range& r = work.ranges_[std::min(i.load(), last - 1)];
    Guard now;
    now.at = __atomic_load_n(&guard.at, __ATOMIC_RELAXED);
    return work.places_.place(now, r.group, r.first_vertex);
  }

  TileByTile& work;
  Guard guard;
  std::atomic<std::uint32_t> i;  // the range
  std::uint32_t end = 0;         // of the block
  const std::uint32_t last;      // of the chunk
  bool result = true;
};

PANDO_CALLS_CODELETS void TileByTile::run_ranges(void* running) {
  Running& now = *static_cast<Running*>(running);
  for (std::uint32_t i = now.i; i < now.end; now.i.store(++i, std::memory_order_relaxed)) {
    const Range& r = now.work.ranges_[i];
    now.result =
        now.work.counted_.run(r.group, r.first_vertex, r.first, r.stride, r.count, r.kernel, now.work.contexts_.counts, &now.guard.at) &&
        now.result;
  }
}

void TileByTile::run(unsigned, unsigned chunk) {
  const std::uint32_t begin = chunk == 0 ? 0 : blocks_.chunk_end[chunk - 1], end = blocks_.chunk_end[chunk];
  Running now(*this, begin == 0 ? 0 : range_end_[begin - 1], range_end_[end - 1]);
  const VertexWatch::Scope watched(contexts_.watch, now);
  for (std::uint32_t block = begin; block < end; ++block) {
    if (prefetches_ && block + 1 < end)
      receive_.run_before(block + 1, block, base_, near_of(chunk));
    else
      receive_.run(block, base_, near_of(chunk));
    arrange_.run(block, base_, near_of(chunk));
    now.end = range_end_[block];
    run_vertices(now);
  }
  if (!now.result) result_.store(false, std::memory_order_relaxed);
}

void TileByTile::run_vertices(Running& now) {
  bool whole = true;
  try {
    whole = run_guarded(now.guard, contexts_.leaves_vertices, run_ranges, &now);
  } catch (...) { places_.throw_exception(now.guard, ranges_[now.i].group, ranges_[now.i].first_vertex); }
  if (whole) return;
  contexts_.broken = true;
  places_.throw_fault(now.guard, ranges_[now.i].group, ranges_[now.i].first_vertex);
}

}  // namespace pando::exec
