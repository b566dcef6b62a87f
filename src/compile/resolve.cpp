#include "compile/resolve.h"

#include <algorithm>

#include "base/check.h"
#include "compile/communicate.h"
#include "tile/runs.h"

namespace pando::compile {

const Fragment* Resolver::fragment_at(Address at) const {
  const std::span<const Fragment> fragments = plan_.fragments[at.shard];
  if (fragments.empty()) return nullptr;
  if (fragments.size() == 1) return at.offset >= fragments[0].bytes.begin && at.offset < fragments[0].bytes.end ? &fragments[0] : nullptr;
  const auto after =
      std::upper_bound(fragments.begin(), fragments.end(), at.offset, [](std::uint64_t o, const Fragment& f) { return o < f.bytes.begin; });
  if (after == fragments.begin()) return nullptr;
  const Fragment& p = *std::prev(after);
  return at.offset < p.bytes.end ? &p : nullptr;
}

std::uint64_t Resolver::address(Address at) const {
  const Fragment* p = fragment_at(at);
  PANDO_CHECK(p != nullptr);
  return p->address + (at.offset - p->bytes.begin);
}

tile::Location Resolver::location(const SymbolicLocation& l) const { return {plan_.shards[l.at.shard].tile, address(l.at), l.type}; }

bool Resolver::place(Address at, Interval hull, TileId& tile, std::uint64_t& offset) const {
  offset = at.offset;
  if (!at.shard.valid()) return true;
  const Fragment* p = fragment_at({at.shard, hull.begin});
  if (p == nullptr || hull.end > p->bytes.end) return false;
  tile = plan_.shards[at.shard].tile;
  offset = p->address + (at.offset - p->bytes.begin);
  return true;
}

bool Resolver::one(const SymbolicMove& m, tile::Move& out) const {
  out = {.bytes = m.bytes, .count = m.count, .source_step = m.source_step, .destination_step = m.destination_step};
  return place(m.source, source_hull(m), out.source_tile, out.source) &&
         place(m.destination, destination_hull(m), out.destination_tile, out.destination);
}

std::uint64_t Resolver::left_in_fragment(Address at) const {
  const Fragment* p = fragment_at(at);
  return p == nullptr ? 0 : p->bytes.end - at.offset;
}

// One contiguous run.
void Resolver::split(const SymbolicMove& run, std::vector<tile::Move>& out) const {
  std::uint64_t done = 0;
  while (done < run.bytes) {
    SymbolicMove part = run;
    part.source.offset += done;
    part.destination.offset += done;
    std::uint64_t n = run.bytes - done;
    if (part.source.shard.valid()) n = std::min(n, left_in_fragment(part.source));
    if (part.destination.shard.valid()) n = std::min(n, left_in_fragment(part.destination));
    if (n == 0) {  // bytes without memory: nobody reads them
      ++done;
      continue;
    }
    part.bytes = static_cast<std::uint32_t>(n);
    tile::Move move;
    PANDO_CHECK(one(part, move));
    out.push_back(move);
    done += n;
  }
}

void Resolver::moves(const std::vector<SymbolicMove>& symbolic, std::vector<tile::Move>& out) const {
  out.reserve(out.size() + symbolic.size());
  for (const SymbolicMove& m : symbolic) {
    if (one(m, out.emplace_back())) continue;
    out.pop_back();
    for (std::uint32_t i = 0; i < m.count; ++i) split(run_of(m, i), out);
  }
}

void sort_moves(std::vector<tile::Move>& moves, bool merge) {
  const auto key = [](const tile::Move& m) { return std::tuple(m.destination_tile, m.destination, m.source_tile, m.source); };
  const auto less = [&](const tile::Move& a, const tile::Move& b) { return key(a) < key(b); };
  if (!std::is_sorted(moves.begin(), moves.end(), less)) std::sort(moves.begin(), moves.end(), less);
  if (!merge) return;
  std::size_t out = 0;
  for (const tile::Move& m : moves) {
    if (out > 0) {
      tile::Move& last = moves[out - 1];
      if (last.count == 1 && m.count == 1 && last.source_tile == m.source_tile && last.destination_tile == m.destination_tile &&
          tile::continues({last.source, last.destination, last.bytes}, {m.source, m.destination, m.bytes})) {
        last.bytes += m.bytes;
        continue;
      }
    }
    moves[out++] = m;
  }
  moves.resize(out);
}

}  // namespace pando::compile
