#include "graph/views/tile_map.h"

#include <algorithm>
#include <queue>

#include "base/sizes.h"

namespace pando::graph {

namespace {

void append(std::vector<MappedInterval>& list, const MappedInterval& next) {
  if (next.elements.empty()) return;
  if (!list.empty() && list.back().tile == next.tile && list.back().elements.end == next.elements.begin)
    list.back().elements.end = next.elements.end;
  else
    list.push_back(next);
}

bool in_order(const std::vector<MappedInterval>& writes) {
  for (std::size_t i = 1; i < writes.size(); ++i)
    if (writes[i].elements.begin < writes[i - 1].elements.end) return false;
  return true;
}

// Many short writes close to each other are painted element by element. False if it takes less to sort them.
bool paint(const std::vector<MappedInterval>& writes, std::vector<MappedInterval>& out) {
  constexpr std::size_t kMany = 4096, kMostElements = 8;  // elements for each write
  if (writes.size() < kMany) return false;
  const std::uint64_t most = kMostElements * writes.size();
  std::uint64_t end = 0, painted = 0;
  for (const MappedInterval& w : writes) {
    end = std::max(end, w.elements.end);
    painted += w.elements.size();
  }
  if (end > most || painted > most) return false;
  std::vector<TileId> tiles(end);
  for (const MappedInterval& w : writes) std::fill(tiles.begin() + w.elements.begin, tiles.begin() + w.elements.end, w.tile);
  for (std::uint64_t begin = 0, at = 0; begin < end; begin = at) {
    while (at < end && tiles[at] == tiles[begin]) ++at;
    if (tiles[begin].valid()) out.push_back({{begin, at}, tiles[begin]});
  }
  return true;
}

// `writes` in the order they were made: where they overlap, the later one holds. A sweep over the begins keeps the writes that
// reach the current position in a heap, the latest on top.
std::vector<MappedInterval> resolve(const std::vector<MappedInterval>& writes) {
  std::vector<MappedInterval> out;
  if (in_order(writes)) {
    for (const MappedInterval& w : writes) append(out, w);
    return out;
  }
  if (paint(writes, out)) return out;
  std::vector<std::uint32_t> by_begin(writes.size());
  for (std::uint32_t i = 0; i < by_begin.size(); ++i) by_begin[i] = i;
  std::sort(by_begin.begin(), by_begin.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(writes[a].elements.begin, a) < std::pair(writes[b].elements.begin, b);
  });
  std::priority_queue<std::uint32_t> open;
  std::uint64_t at = 0;
  for (std::size_t next = 0; next < by_begin.size() || !open.empty();) {
    while (!open.empty() && writes[open.top()].elements.end <= at) open.pop();
    if (open.empty()) {
      if (next == by_begin.size()) break;
      at = std::max(at, writes[by_begin[next]].elements.begin);
    }
    while (next < by_begin.size() && writes[by_begin[next]].elements.begin <= at) open.push(by_begin[next++]);
    const MappedInterval& top = writes[open.top()];
    std::uint64_t upto = top.elements.end;
    if (next < by_begin.size()) upto = std::min(upto, writes[by_begin[next]].elements.begin);
    if (upto > at) append(out, {{at, upto}, top.tile});
    at = std::max(at, upto);
  }
  return out;
}

}  // namespace

TileMap::TileMap(const TileMap& other) : sorted_(other.intervals()) {}

TileMap& TileMap::operator=(const TileMap& other) {
  if (this == &other) return *this;
  sorted_ = other.intervals();
  log_.clear();
  written_.store(false, std::memory_order_relaxed);
  return *this;
}

TileMap::TileMap(TileMap&& other) noexcept
    : sorted_(std::move(other.sorted_)), log_(std::move(other.log_)), written_(other.written_.load(std::memory_order_relaxed)) {}

TileMap& TileMap::operator=(TileMap&& other) noexcept {
  sorted_ = std::move(other.sorted_);
  log_ = std::move(other.log_);
  written_.store(other.written_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  return *this;
}

void TileMap::set(Interval elements, TileId tile) {
  append(log_, {elements, tile});
  written_.store(true, std::memory_order_relaxed);
}

void TileMap::make_room(std::uint64_t sets) { pando::make_room(log_, sets, ErrorKind::invalid_tile_mapping, "the mapping of a variable"); }

void TileMap::assign(const std::vector<MappedInterval>& mapping) {
  sorted_.clear();
  sorted_.reserve(mapping.size());
  for (const MappedInterval& m : mapping) append(sorted_, m);
  log_.clear();
  written_.store(false, std::memory_order_relaxed);
}

const std::vector<MappedInterval>& TileMap::intervals() const {
  if (!written_.load(std::memory_order_acquire)) return sorted_;
  const std::lock_guard lock(mutex_);
  if (!written_.load(std::memory_order_relaxed)) return sorted_;
  std::vector<MappedInterval> writes = std::move(sorted_);
  writes.insert(writes.end(), log_.begin(), log_.end());
  sorted_ = resolve(writes);
  log_ = {};
  written_.store(false, std::memory_order_release);
  return sorted_;
}

bool TileMap::complete(std::uint64_t elements) const {
  std::uint64_t at = 0;
  for (const MappedInterval& m : intervals()) {
    if (m.elements.begin > at) return false;
    at = m.elements.end;
  }
  return at >= elements;
}

TileId TileMap::tile_of(std::uint64_t element) const {
  const std::vector<MappedInterval>& list = intervals();
  auto after =
      std::upper_bound(list.begin(), list.end(), element, [](std::uint64_t e, const MappedInterval& m) { return e < m.elements.begin; });
  if (after == list.begin() || !std::prev(after)->elements.overlaps({element, element + 1})) return {};
  return std::prev(after)->tile;
}

}  // namespace pando::graph
