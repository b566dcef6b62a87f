#include "exec/moves/near_buffers.h"

#include <algorithm>
#include <tuple>

#include "exec/moves/spans.h"

namespace pando::exec {

std::uint64_t NearBuffers::bytes() const {
  std::uint64_t sum = 0;
  for (const NearBuffer& b : buffers_) sum += b.end - b.begin;
  return sum;
}

std::size_t NearBuffers::after(TileId tile, std::uint64_t offset) const {
  const auto it =
      std::upper_bound(buffers_.begin(), buffers_.end(), std::pair(tile, offset),
                       [](const std::pair<TileId, std::uint64_t>& at, const NearBuffer& b) { return at < std::pair(b.tile, b.begin); });
  return static_cast<std::size_t>(it - buffers_.begin());
}

const NearBuffer* NearBuffers::find(TileId tile, std::uint64_t offset) const {
  const std::size_t next = after(tile, offset);
  if (next == 0) return nullptr;
  const NearBuffer& last = buffers_[next - 1];
  return last.tile == tile && offset < last.end ? &last : nullptr;
}

Interval NearBuffers::reach_of(TileId tile) const {
  const auto first = std::lower_bound(buffers_.begin(), buffers_.end(), tile, [](const NearBuffer& b, TileId t) { return b.tile < t; });
  if (first == buffers_.end() || first->tile != tile) return {0, 0};
  return {first->begin, buffers_[after(tile, ~std::uint64_t{0}) - 1].end};
}

bool NearBuffers::holds_all_or_none(TileId tile, std::uint64_t begin, std::uint64_t end) const {
  if (begin >= end) return true;
  if (const NearBuffer* const b = find(tile, begin)) return end <= b->end;
  const std::size_t next = after(tile, begin);
  return next == buffers_.size() || buffers_[next].tile != tile || buffers_[next].begin >= end;
}

BuffersByTime::BuffersByTime(const tile::Program& program) : program_(program) {
  for (std::uint32_t i = 0; i < program.allocations.size(); ++i) {
    const tile::Allocation& a = program.allocations[i];
    if (a.category != tile::Category::exchange_buffer || a.always_live || a.live >= program.live_ranges.size()) continue;
    const tile::LiveRange& live = program.live_ranges[a.live];
    if (live.size() == 1) buffers_[live.front()].push_back(i);
  }
}

NearBuffers BuffersByTime::between(std::uint32_t exchange, std::uint32_t compute, const tile::Exchange& moves,
                                   const tile::ComputeStep& step, const Library& library) const {
  const auto found = buffers_.find({exchange, compute + 1});
  if (found == buffers_.end()) return {};
  std::vector<NearBuffer> list;
  for (const std::uint32_t i : found->second) {  // as the program's allocations: by tile and address
    const tile::Allocation& a = program_.allocations[i];
    if (!list.empty() && list.back().tile == a.tile && list.back().end == a.offset)
      list.back().end += a.size;
    else
      list.push_back({a.tile, a.offset, a.offset + a.size});
  }
  NearBuffers buffers(std::move(list));
  const auto is_clear = [&](const Span& s) { return buffers.holds_all_or_none(s.tile, s.begin, s.end); };
  for (const tile::Move& m : moves.receive) {
    const Span from = source_of(m);
    if (!is_clear(destination_of(m)) || !is_clear(from) || buffers.find(from.tile, from.begin) != nullptr) return {};
  }
  for (const tile::Move& m : moves.arrange)
    if (!is_clear(destination_of(m)) || !is_clear(source_of(m))) return {};
  bool clear = true;
  for_each_operand(program_, library, step, [&](const tile::VertexInstance& v, const Field& f, const tile::Operand& o) {
    const Span span{o.tile, o.offset, o.offset + o.count * size_of(f.type)};
    clear = clear && is_clear(span) && (o.tile == v.tile || o.count == 0 || buffers.find(o.tile, o.offset) == nullptr);
  });
  return clear ? buffers : NearBuffers{};
}

}  // namespace pando::exec
