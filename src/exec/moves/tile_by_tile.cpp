#include "exec/moves/tile_by_tile.h"
#include "codelet/foreign_call.h"

#include <algorithm>
#include <tuple>

namespace pando::exec {
namespace {

struct Span {
  TileId tile;
  std::uint64_t begin = 0, end = 0;
};

Span span_of(TileId tile, std::uint64_t offset, std::int64_t step, std::uint32_t bytes, std::uint32_t count) {
  const std::uint64_t last = offset + static_cast<std::uint64_t>(step * (static_cast<std::int64_t>(count) - 1));
  return {tile, std::min(offset, last), std::max(offset, last) + bytes};
}
Span source_of(const tile::Move& m) { return span_of(m.source_tile, m.source, m.source_step, m.bytes, m.count); }
Span destination_of(const tile::Move& m) { return span_of(m.destination_tile, m.destination, m.destination_step, m.bytes, m.count); }

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

template <class Visit>  // visit(field, operand)
void for_each_operand(const tile::Program& program, const Codelet& codelet, const tile::VertexInstance& v, Visit visit) {
  std::size_t at = v.operands;
  for (const Field& f : codelet.fields) {
    if (!f.is_edge()) continue;
    const std::size_t rows = f.has_rows() ? program.operands[at++].count : 1;
    for (const std::size_t end = at + rows; at < end; ++at) visit(f, program.operands[at]);
  }
}

// What vertices write, and what they read on tiles of others.
void collect(const tile::Program& program, const Library& library, const tile::ComputeStep& step, std::vector<Span>& written,
             std::vector<Span>& read_elsewhere) {
  for (const tile::VertexGroup& g : step.groups)
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i) {
      const tile::VertexInstance& v = program.vertices[i];
      for_each_operand(program, library[g.codelet], v, [&](const Field& f, const tile::Operand& o) {
        if (o.count == 0) return;
        const Span span{o.tile, o.offset, o.offset + o.count * size_of(f.type)};
        if (f.is_written()) written.push_back(span);
        if (o.tile != v.tile) read_elsewhere.push_back(span);
      });
    }
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

TileByTile::TileByTile(const tile::Program& program, const Library& library, const tile::Exchange& exchange, const tile::ComputeStep& step,
                       const Descriptors::Group* groups, std::span<const TileId> ends, char* base, std::uint64_t stride,
                       TileContexts& contexts)
    : contexts_(contexts),
      places_(program, library, static_cast<std::size_t>(&step - program.computes.data())),
      base_(base),
      receive_(MovePlan::build_by_tile(exchange.receive, stride, ends)),
      arrange_(MovePlan::build_by_tile(exchange.arrange, stride, ends)) {
  std::vector<std::uint32_t> next(step.groups.size());  // vertex of each group
  for (const TileId end : ends) {
    for (std::size_t k = 0; k < step.groups.size(); ++k) {
      const tile::VertexGroup& g = step.groups[k];
      const std::uint32_t begin = next[k];
      while (next[k] < g.count && program.vertices[g.first + next[k]].tile < end) ++next[k];
      if (next[k] > begin)
        ranges_.push_back({library[g.codelet].kernel, groups[k].first + begin * groups[k].stride, groups[k].stride, next[k] - begin,
                           static_cast<std::uint32_t>(k), begin});
    }
    range_end_.push_back(static_cast<std::uint32_t>(ranges_.size()));
  }
}

struct TileByTile::Running final : WatchedRange {
  Running(TileByTile& w, std::uint32_t first, std::uint32_t stop) : work(w), i(first), end(stop) {}
  std::uint64_t position() const override {
    return (std::uint64_t{i} << 32) + __atomic_load_n(&guard.at, __ATOMIC_RELAXED);  // which kernels write
  }
  std::string place() const override {
    const Range& r = work.ranges_[std::min(i.load(), end - 1)];
    Guard now;
    now.at = __atomic_load_n(&guard.at, __ATOMIC_RELAXED);
    return work.places_.place(now, r.group, r.first_vertex);
  }

  TileByTile& work;
  Guard guard;
  std::atomic<std::uint32_t> i;  // the range
  const std::uint32_t end;
  bool result = true;
};

PANDO_CALLS_CODELETS void TileByTile::run_ranges(void* running) {
  Running& now = *static_cast<Running*>(running);
  for (std::uint32_t i = now.i; i < now.end; now.i.store(++i, std::memory_order_relaxed)) {
    const Range& r = now.work.ranges_[i];
    now.result = r.kernel(r.first, r.stride, r.count, &now.guard.at) && now.result;
  }
}

void TileByTile::run(unsigned, unsigned chunk) {
  receive_.run(chunk, base_, base_);
  arrange_.run(chunk, base_, base_);
  Running now(*this, chunk == 0 ? 0 : range_end_[chunk - 1], range_end_[chunk]);
  const VertexWatch::Scope watched(contexts_.watch, now);
  bool whole = true;
  try {
    whole = run_guarded(now.guard, contexts_.leaves_vertices, run_ranges, &now);
  } catch (...) { places_.throw_exception(now.guard, ranges_[now.i].group, ranges_[now.i].first_vertex); }
  if (!whole) {
    contexts_.broken = true;
    places_.throw_fault(now.guard, ranges_[now.i].group, ranges_[now.i].first_vertex);
  }
  if (!now.result) result_.store(false, std::memory_order_relaxed);
}

}  // namespace pando::exec
