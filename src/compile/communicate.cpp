#include "compile/communicate.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "compile/element_order.h"
#include "compile/stretches.h"
#include "tile/runs.h"

namespace pando::compile {

namespace {

Interval hull(std::uint64_t first, std::int64_t step, std::uint32_t bytes, std::uint32_t count) {
  const std::int64_t reach = step * (static_cast<std::int64_t>(count) - 1);
  const std::uint64_t last = first + static_cast<std::uint64_t>(reach);
  return {std::min(first, last), std::max(first, last) + bytes};
}

SymbolicMove stretch_move(Address from, std::int64_t from_step, Address to, std::int64_t to_step, std::uint64_t count,
                          std::uint64_t width) {
  if (from_step == static_cast<std::int64_t>(width) && to_step == from_step && count * width <= ~0u)
    return {from, to, static_cast<std::uint32_t>(count * width), 1, 0, 0};
  return {from, to, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(count), from_step, to_step};
}

// How many stretches there are at least: a copy of a whole variable takes little more.
std::size_t stretches_of(const Plan& plan, const std::vector<graph::Run>& runs) {
  if (runs.size() != 1 || runs[0].count != plan.graph.variables()[runs[0].variable].elements) return runs.size();
  return plan.layout[runs[0].variable].size();
}

// Calls sink(source, destination) for the stretches that are one at both ends.
template <class Sink>
void each_stretch(Cursor from, Cursor to, Sink sink) {
  while (!from.done() && !to.done()) {
    const Stretch d = to.peek(kLongestStretch);
    const Stretch s = from.peek(d.count);
    sink(s, d);
    from.advance(s.count);
    to.advance(s.count);
  }
  PANDO_CHECK(from.done() && to.done());
}

}  // namespace

SymbolicMove run_of(const SymbolicMove& m, std::uint32_t index) {
  const tile::Run run = tile::run_of({m.source.offset, m.destination.offset, m.bytes}, m.source_step, m.destination_step, index);
  return {{m.source.shard, run.source}, {m.destination.shard, run.destination}, run.bytes};
}

Interval source_hull(const SymbolicMove& m) { return hull(m.source.offset, m.source_step, m.bytes, m.count); }
Interval destination_hull(const SymbolicMove& m) { return hull(m.destination.offset, m.destination_step, m.bytes, m.count); }

bool reads_once(const graph::View& view) {
  std::vector<unsigned> reversed, order;
  const graph::View grid = view.unfolded();
  return grid.variable_order(reversed, order) && !grid.contains_aliases();
}

std::vector<SymbolicMove> moves_between(const Plan& plan, const graph::View& source, const graph::View& destination) {
  const std::uint64_t width = size_of(source.type());
  std::vector<SymbolicMove> moves;
  graph::View from_view = source, to_view = destination;
  reorder_for_stretches(plan, from_view, to_view);
  std::vector<graph::Run> sources = from_view.runs(), destinations = to_view.runs();
  std::size_t stretches = std::max(stretches_of(plan, sources), stretches_of(plan, destinations));
  Cursor from(plan, std::move(sources)), to(plan, std::move(destinations));
  // Counting millions takes less than moving a list of them as it grows.
  constexpr std::size_t kMany = 1024;
  if (stretches >= kMany) {
    stretches = 0;
    each_stretch(from, to, [&](const Stretch&, const Stretch&) { ++stretches; });
  }
  moves.reserve(stretches);
  each_stretch(std::move(from), std::move(to), [&](const Stretch& s, const Stretch& d) {
    moves.push_back(stretch_move(s.at(width), s.step(width), d.at(width), d.step(width), s.count, width));
  });
  return moves;
}

namespace {

// Whether `m` continues `last` at both ends; then it is a part of it.
bool join(SymbolicMove& last, const SymbolicMove& m) {
  if (m.count != 1 || last.source.shard != m.source.shard || last.destination.shard != m.destination.shard) return false;
  if (last.count == 1 &&
      tile::continues({last.source.offset, last.destination.offset, last.bytes}, {m.source.offset, m.destination.offset, m.bytes})) {
    last.bytes += m.bytes;
    return true;
  }
  // Equal runs at equal steps: one strided move.
  if (last.bytes != m.bytes || m.destination.offset <= last.destination.offset) return false;
  const std::uint64_t last_source = last.source.offset + static_cast<std::uint64_t>(last.source_step * (last.count - 1));
  const std::uint64_t last_destination = last.destination.offset + static_cast<std::uint64_t>(last.destination_step * (last.count - 1));
  const auto source_step = static_cast<std::int64_t>(m.source.offset - last_source);
  const auto destination_step = static_cast<std::int64_t>(m.destination.offset - last_destination);
  if (last.count != 1 && (last.source_step != source_step || last.destination_step != destination_step)) return false;
  last.source_step = source_step;
  last.destination_step = destination_step;
  ++last.count;
  return true;
}

}  // namespace

void merge_moves(std::vector<SymbolicMove>& moves) {
  // What goes to the host comes from many tiles in turns: there a tile's moves follow each other by source.
  const bool to_host = !moves.empty() && !moves[0].destination.shard.valid();
  const auto less = [&](const SymbolicMove& a, const SymbolicMove& b) {
    const Address &x = to_host ? a.source : a.destination, &y = to_host ? b.source : b.destination;
    return std::tie(x.shard, x.offset) < std::tie(y.shard, y.offset);
  };
  if (!std::is_sorted(moves.begin(), moves.end(), less)) std::sort(moves.begin(), moves.end(), less);
  std::size_t out = 0;
  for (const SymbolicMove& m : moves)
    if (out == 0 || !join(moves[out - 1], m)) {
      if (&moves[out] != &m) moves[out] = m;
      ++out;
    }
  moves.resize(out);
}

namespace {

// Appends those of one destination, joined, if they become much fewer; else as they are.
void append_merged_turns(const SymbolicMove* begin, const SymbolicMove* end, std::vector<SymbolicMove>& out) {
  constexpr std::size_t kMuchFewer = 8;
  const std::size_t first = out.size();
  std::unordered_map<std::uint64_t, std::size_t> last_of;  // by source and bytes, in `out`; looked up, never iterated
  for (const SymbolicMove* m = begin; m != end; ++m) {
    if (m->count == 1) {
      const auto [at, added] = last_of.try_emplace(std::uint64_t{m->source.shard.value} << 32 | m->bytes, out.size());
      if (!added && join(out[at->second], *m)) continue;
      at->second = out.size();
    }
    out.push_back(*m);
    if ((out.size() - first) * kMuchFewer > static_cast<std::size_t>(end - begin)) {
      out.resize(first);
      out.insert(out.end(), begin, end);
      return;
    }
  }
}

}  // namespace

void merge_turns(std::vector<SymbolicMove>& moves) {
  constexpr std::size_t kMany = 1u << 14;  // to one shard
  if (moves.size() < kMany) return;
  std::vector<SymbolicMove> out;
  for (std::size_t i = 0, end = 0; i < moves.size(); i = end) {
    const ShardId shard = moves[i].destination.shard;
    while (end < moves.size() && moves[end].destination.shard == shard) ++end;
    if (shard.valid() && end - i >= kMany)
      append_merged_turns(moves.data() + i, moves.data() + end, out);
    else
      out.insert(out.end(), moves.begin() + static_cast<std::ptrdiff_t>(i), moves.begin() + static_cast<std::ptrdiff_t>(end));
  }
  if (out.size() < moves.size()) moves = std::move(out);
}

namespace {

// Unit moves of a strided one, appended.
void explode(const SymbolicMove& m, std::vector<SymbolicMove>& out) {
  for (std::uint32_t i = 0; i < m.count; ++i) out.push_back(run_of(m, i));
}

bool is_identity(const SymbolicMove& m) {
  return m.source.shard == m.destination.shard && m.source.offset == m.destination.offset &&
         (m.count == 1 || m.source_step == m.destination_step);
}

struct End {
  ShardId shard;
  Interval bytes;
};

bool any_overlap(std::vector<End> a, std::vector<End> b) {
  const auto less = [](const End& x, const End& y) { return std::tie(x.shard, x.bytes.begin) < std::tie(y.shard, y.bytes.begin); };
  std::sort(a.begin(), a.end(), less);
  std::sort(b.begin(), b.end(), less);
  std::uint64_t reach = 0;  // furthest end among the sources passed on the current shard
  ShardId shard;
  std::size_t i = 0;
  for (const End& d : b) {
    while (i < a.size() && (a[i].shard < d.shard || (a[i].shard == d.shard && a[i].bytes.begin < d.bytes.end))) {
      if (shard != a[i].shard) reach = 0;
      shard = a[i].shard;
      reach = std::max(reach, a[i].bytes.end);
      ++i;
    }
    if (shard == d.shard && reach > d.bytes.begin) return true;
  }
  return false;
}

// Does a destination touch a source?
bool touches_itself(const std::vector<SymbolicMove>& moves) {
  if (moves.empty()) return false;
  // Shards are numbered variable by variable: most copies have nothing in common.
  ShardId least_source = moves[0].source.shard, most_source = least_source, least = moves[0].destination.shard, most = least;
  for (const SymbolicMove& m : moves) {
    least_source = std::min(least_source, m.source.shard);
    most_source = std::max(most_source, m.source.shard);
    least = std::min(least, m.destination.shard);
    most = std::max(most, m.destination.shard);
  }
  if (most_source < least || most < least_source) return false;
  std::vector<ShardId> sources, destinations, both;
  // Moves mostly come in runs of one shard.
  const auto add = [](std::vector<ShardId>& list, ShardId s) {
    if (list.empty() || list.back() != s) list.push_back(s);
  };
  for (const SymbolicMove& m : moves) {
    add(sources, m.source.shard);
    add(destinations, m.destination.shard);
  }
  for (auto* list : {&sources, &destinations}) {
    if (!std::is_sorted(list->begin(), list->end())) std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  std::set_intersection(sources.begin(), sources.end(), destinations.begin(), destinations.end(), std::back_inserter(both));
  if (both.empty()) return false;
  std::vector<End> a, b;
  for (const SymbolicMove& m : moves) {
    if (std::binary_search(both.begin(), both.end(), m.source.shard)) a.push_back({m.source.shard, source_hull(m)});
    if (std::binary_search(both.begin(), both.end(), m.destination.shard)) b.push_back({m.destination.shard, destination_hull(m)});
  }
  return any_overlap(std::move(a), std::move(b));
}

// Hull overlap is coarse; strided moves that only interleave are looked at byte by byte.
std::vector<SymbolicMove> exploded(const std::vector<SymbolicMove>& moves) {
  std::vector<SymbolicMove> out;
  for (const SymbolicMove& m : moves) explode(m, out);
  return out;
}

// One arrival of a byte range at a tile, and what else on that tile wants the same bytes.
class ArriveOnce {
 public:
  explicit ArriveOnce(Plan& plan) : plan_(plan) {}

  // False: everything arrives once as it is.
  bool run(std::vector<SymbolicMove>& receive, std::vector<SymbolicMove>& arrange) {
    if (reads_nothing_twice(receive)) return false;
    std::vector<std::uint32_t> order(receive.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto tile = [&](std::uint32_t i) { return plan_.shards[receive[i].destination.shard].tile; };
    const auto key = [&](std::uint32_t i) { return std::tuple(tile(i), receive[i].source.shard, source_hull(receive[i]).begin, i); };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<SymbolicMove> kept;
    kept.reserve(receive.size());
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i + 1;
      std::uint64_t reach = source_hull(receive[order[i]]).end;
      while (end < order.size() && tile(order[end]) == tile(order[i]) &&
             receive[order[end]].source.shard == receive[order[i]].source.shard && source_hull(receive[order[end]]).begin < reach)
        reach = std::max(reach, source_hull(receive[order[end++]]).end);
      // What the tile holds already it may copy as often as it likes.
      const bool local = plan_.shards[receive[order[i]].source.shard].tile == tile(order[i]);
      if (end == i + 1 && (local || !overlaps_itself(receive[order[i]]))) {
        kept.push_back(receive[order[i++]]);
        continue;
      }
      cluster_.clear();
      for (std::size_t k = i; k < end; ++k) cluster_.push_back(receive[order[k]]);
      if (local || (cluster_.size() == 1 && !overlaps_itself(cluster_[0])) || !find_shared_units())
        kept.insert(kept.end(), cluster_.begin(), cluster_.end());
      else
        share(kept, arrange);
      i = end;
    }
    receive = std::move(kept);
    return true;
  }

 private:
  // As is plain to see where the sources are in order: copies of whole tensors.
  static bool reads_nothing_twice(const std::vector<SymbolicMove>& moves) {
    ShardId shard;
    std::uint64_t end = 0;
    for (const SymbolicMove& m : moves) {
      const Interval hull = source_hull(m);
      if (shard.valid() && (m.source.shard < shard || (m.source.shard == shard && hull.begin < end))) return false;
      if (m.count > 1 && std::uint64_t{m.bytes} * m.count > hull.size()) return false;
      shard = m.source.shard;
      end = hull.end;
    }
    return true;
  }

  // Runs that share bytes, but are not one run repeated.
  static bool overlaps_itself(const SymbolicMove& m) {
    return m.count > 1 && m.source_step != 0 && static_cast<std::uint64_t>(std::abs(m.source_step)) < m.bytes;
  }

  // The cluster's runs, by their sources. False if none overlap: strided moves of a transpose only interleave.
  bool find_shared_units() {
    units_.clear();
    for (const SymbolicMove& m : cluster_) explode(m, units_);
    const auto less = [](const SymbolicMove& a, const SymbolicMove& b) { return a.source.offset < b.source.offset; };
    if (!std::is_sorted(units_.begin(), units_.end(), less)) std::stable_sort(units_.begin(), units_.end(), less);
    std::uint64_t end = 0;
    for (const SymbolicMove& u : units_) {
      if (u.source.offset < end) return true;
      end = u.source.offset + u.bytes;
    }
    return false;
  }

  // Bytes that came already are copied from where they came to.
  void share(std::vector<SymbolicMove>& kept, std::vector<SymbolicMove>& arrange) {
    std::uint64_t came_end = 0;          // the kept moves brought the source's bytes up to here without a hole ...
    std::vector<SymbolicMove> arrivals;  // ... since the first of these; by source offset
    for (const SymbolicMove& u : units_) {
      if (u.source.offset >= came_end) {
        arrivals.clear();
        came_end = u.source.offset;
      }
      const std::uint64_t covered = std::min<std::uint64_t>(u.bytes, came_end - u.source.offset);
      if (covered > 0) copy_from(arrivals, u, covered, arrange);
      if (covered == u.bytes) continue;
      SymbolicMove rest = u;
      rest.source.offset += covered;
      rest.destination.offset += covered;
      rest.bytes -= static_cast<std::uint32_t>(covered);
      kept.push_back(rest);
      arrivals.push_back(rest);
      came_end = rest.source.offset + rest.bytes;
    }
  }

  static void copy_from(const std::vector<SymbolicMove>& arrivals, const SymbolicMove& u, std::uint64_t covered,
                        std::vector<SymbolicMove>& arrange) {
    std::uint64_t at = u.source.offset;
    const std::uint64_t end = at + covered;
    auto it =
        std::upper_bound(arrivals.begin(), arrivals.end(), at, [](std::uint64_t o, const SymbolicMove& m) { return o < m.source.offset; });
    PANDO_CHECK(it != arrivals.begin());
    for (--it; at < end; ++it) {
      const std::uint64_t stop = std::min(end, it->source.offset + it->bytes);
      arrange.push_back({{it->destination.shard, it->destination.offset + (at - it->source.offset)},
                         {u.destination.shard, u.destination.offset + (at - u.source.offset)},
                         static_cast<std::uint32_t>(stop - at),
                         1,
                         0,
                         0});
      at = stop;
    }
  }

  Plan& plan_;
  std::vector<SymbolicMove> cluster_, units_;  // moves at hand whose sources overlap as a whole, and their runs
};

// Sends everything through temporaries on the destination tiles: the exchange fills them, then each tile copies. The copies of
// `arrange` (from where a byte came to where else it is wanted) read the temporaries too.
void stage(Plan& plan, std::vector<SymbolicMove>& receive, std::vector<SymbolicMove>& arrange) {
  const auto slot_bytes = [](const SymbolicMove& m) { return (std::uint64_t{m.bytes} * m.count + 7) / 8 * 8; };
  const auto tile_of = [&](const SymbolicMove& m) { return plan.shards[m.destination.shard].tile; };
  std::sort(receive.begin(), receive.end(), [](const SymbolicMove& a, const SymbolicMove& b) {
    return std::tie(a.destination.shard, a.destination.offset) < std::tie(b.destination.shard, b.destination.offset);
  });
  std::vector<std::uint64_t> needed(plan.graph.machine().tiles(), 0), filled(needed.size(), 0);
  for (const SymbolicMove& m : receive) needed[tile_of(m).index()] += slot_bytes(m);
  std::vector<ShardId> temporary(needed.size());
  std::vector<SymbolicMove> homes;
  for (const SymbolicMove& m : receive) {
    const std::size_t t = tile_of(m).index();
    if (!temporary[t].valid()) temporary[t] = plan.add_temporary(tile_of(m), needed[t], tile::Category::staging, "staging");
    SymbolicMove home = m;
    home.source = {temporary[t], filled[t]};
    home.source_step = m.count == 1 ? 0 : m.bytes;
    homes.push_back(home);
    filled[t] += slot_bytes(m);
  }
  for (SymbolicMove& copy : arrange) {
    // `homes` is sorted as `receive` is; an arrival that is copied from is one run.
    auto it = std::upper_bound(homes.begin(), homes.end(), copy.source, [](const Address& a, const SymbolicMove& h) {
      return std::tie(a.shard, a.offset) < std::tie(h.destination.shard, h.destination.offset);
    });
    PANDO_CHECK(it != homes.begin());
    --it;
    PANDO_CHECK(it->destination.shard == copy.source.shard && it->count == 1);
    copy.source = {it->source.shard, it->source.offset + (copy.source.offset - it->destination.offset)};
  }
  for (std::size_t i = 0; i < receive.size(); ++i) {
    receive[i].destination = homes[i].source;
    receive[i].destination_step = homes[i].source_step;
  }
  arrange.insert(arrange.end(), homes.begin(), homes.end());
}

}  // namespace

SymbolicExchange plan_exchange(Plan& plan, tile::NameId name, std::vector<SymbolicMove> moves, bool reads_once) {
  SymbolicExchange exchange{.name = name, .reads_once = reads_once};
  std::erase_if(moves, is_identity);
  if (plan.options.merge_moves) merge_moves(moves);
  bool staged = touches_itself(moves);
  if (staged) {
    moves = exploded(moves);
    std::erase_if(moves, is_identity);
    staged = touches_itself(moves);
    if (plan.options.merge_moves) merge_moves(moves);
  }
  const bool rearranged = !reads_once && ArriveOnce(plan).run(moves, exchange.arrange);
  if (staged) stage(plan, moves, exchange.arrange);
  exchange.receive = std::move(moves);
  if (plan.options.merge_moves && (rearranged || staged)) {
    merge_moves(exchange.receive);
    merge_moves(exchange.arrange);
  }
  if (plan.options.merge_moves) merge_turns(exchange.receive);
  return exchange;
}

namespace {

class UnionFind {
 public:
  explicit UnionFind(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::vector<ActionId> add_exchange_actions(Plan& plan, SymbolicExchange exchange) {
  const std::size_t streams = plan.out->streams.size();
  UnionFind parts(streams);
  std::vector<bool> used(streams, false);
  for (const auto* list : {&exchange.receive, &exchange.arrange})
    for (const SymbolicMove& m : *list) {
      const std::size_t s = plan.stream_of(m.source.shard).index(), d = plan.stream_of(m.destination.shard).index();
      used[s] = used[d] = true;
      if (s != d) parts.join(s, d);
    }
  std::vector<std::size_t> part_of_root(streams, ~std::size_t{0});
  std::vector<SymbolicExchange> split;
  std::vector<std::vector<StreamId>> members;
  for (std::size_t s = 0; s < streams; ++s) {
    if (!used[s]) continue;
    std::size_t& part = part_of_root[parts.find(s)];
    if (part == ~std::size_t{0}) {
      part = split.size();
      split.push_back({.name = exchange.name, .reads_once = exchange.reads_once});
      members.emplace_back();
    }
    members[part].push_back(StreamId(static_cast<std::uint32_t>(s)));
  }
  if (split.size() == 1) {
    split[0] = std::move(exchange);
  } else {
    for (const SymbolicMove& m : exchange.receive)
      split[part_of_root[parts.find(plan.stream_of(m.destination.shard).index())]].receive.push_back(m);
    for (const SymbolicMove& m : exchange.arrange)
      split[part_of_root[parts.find(plan.stream_of(m.destination.shard).index())]].arrange.push_back(m);
  }
  std::vector<ActionId> actions;
  for (std::size_t i = 0; i < split.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(plan.exchanges.size());
    const ActionId action = plan.actions.push({.op = tile::Op::exchange, .a = index, .streams = members[i], .name = split[i].name});
    add_move_accesses(plan, action, split[i].receive, split[i].reads_once);
    add_move_accesses(plan, action, split[i].arrange);
    plan.exchanges.push_back(std::move(split[i]));
    actions.push_back(action);
  }
  return actions;
}

namespace {

// A strided move of few runs is as many accesses; of many, one access of all that it spans.
template <class Sink>
void each_hull(const SymbolicMove& m, std::uint64_t offset, std::int64_t step, Sink sink) {
  constexpr std::uint32_t kFew = 16;
  const Interval span = hull(offset, step, m.bytes, m.count);
  const bool whole = std::uint64_t{m.bytes} * m.count == span.size() || step == 0;
  if (whole || m.count > kFew) return sink(span, whole);
  for (std::uint32_t i = 0; i < m.count; ++i) {
    const std::uint64_t at = offset + static_cast<std::uint64_t>(step * i);
    sink(Interval{at, at + m.bytes}, true);
  }
}

// Destinations of one shard. Strided writes are whole if together they fill what they span (no byte is written twice). `writes(i)`: the
// moves that write, by the shard that they write to.
template <class Writes>
void add_write_accesses(Plan& plan, ActionId action, std::size_t count, Writes writes) {
  for (std::size_t i = 0; i < count;) {
    const ShardId shard = writes(i).destination.shard;
    std::size_t end = i;
    Interval span{~std::uint64_t{0}, 0};
    std::uint64_t bytes = 0;
    for (; end < count && writes(end).destination.shard == shard; ++end) {
      const SymbolicMove& m = writes(end);
      const Interval h = destination_hull(m);
      span = {std::min(span.begin, h.begin), std::max(span.end, h.end)};
      bytes += std::uint64_t{m.bytes} * m.count;
    }
    if (!shard.valid() || plan.shards[shard].always_live) {
      // Nobody asks when.
    } else if (bytes == span.size()) {
      plan.access({shard, action, span, AccessKind::write, false});
    } else {
      for (std::size_t k = i; k < end; ++k) {
        const SymbolicMove& m = writes(k);
        each_hull(m, m.destination.offset, m.destination_step,
                  [&](Interval h, bool whole) { plan.access({shard, action, h, whole ? AccessKind::write : AccessKind::partial, false}); });
      }
    }
    i = end;
  }
}

// Reads of many moves, no byte of which is read twice: the shards whose reads fill what they span have one access, as destinations have.
// Returns which these are; empty if it takes less to look at the moves one by one.
std::vector<bool> add_whole_reads(Plan& plan, ActionId action, const std::vector<SymbolicMove>& moves) {
  constexpr std::size_t kFewForEachShard = 4;
  if (moves.size() < kFewForEachShard * plan.shards.size()) return {};
  struct Touched {
    Interval span{~std::uint64_t{0}, 0};
    std::uint64_t bytes = 0;
  };
  std::vector<Touched> touched(plan.shards.size());
  for (const SymbolicMove& m : moves) {
    if (!m.source.shard.valid()) continue;
    Touched& t = touched[m.source.shard.index()];
    const Interval h = source_hull(m);
    t.span = {std::min(t.span.begin, h.begin), std::max(t.span.end, h.end)};
    t.bytes += std::uint64_t{m.bytes} * m.count;
  }
  std::vector<bool> whole(touched.size(), false);
  for (std::uint32_t s = 0; s < touched.size(); ++s) {
    if (touched[s].bytes == 0 || touched[s].bytes != touched[s].span.size()) continue;
    whole[s] = true;
    plan.access({ShardId(s), action, touched[s].span, AccessKind::read, false});
  }
  return whole;
}

}  // namespace

void add_move_accesses(Plan& plan, ActionId action, const std::vector<SymbolicMove>& moves, bool reads_once) {
  const std::vector<bool> whole = reads_once ? add_whole_reads(plan, action, moves) : std::vector<bool>();
  for (const SymbolicMove& m : moves) {
    const ShardId s = m.source.shard;
    if (!s.valid() || (!whole.empty() && whole[s.index()]) || plan.shards[s].always_live) continue;
    each_hull(m, m.source.offset, m.source_step, [&](Interval h, bool) { plan.access({s, action, h, AccessKind::read, false}); });
  }
  const auto less = [](const SymbolicMove& a, const SymbolicMove& b) { return a.destination.shard < b.destination.shard; };
  if (std::is_sorted(moves.begin(), moves.end(), less))
    return add_write_accesses(plan, action, moves.size(), [&](std::size_t i) -> const SymbolicMove& { return moves[i]; });
  std::vector<const SymbolicMove*> sorted;
  sorted.reserve(moves.size());
  for (const SymbolicMove& m : moves) sorted.push_back(&m);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const SymbolicMove* a, const SymbolicMove* b) { return less(*a, *b); });
  add_write_accesses(plan, action, sorted.size(), [&](std::size_t i) -> const SymbolicMove& { return *sorted[i]; });
}

}  // namespace pando::compile
