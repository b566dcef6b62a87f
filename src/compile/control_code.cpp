#include "compile/control_code.h"

#include <algorithm>
#include <utility>

#include "tile/step.h"

namespace pando::compile {

ControlCode::ControlCode(const Plan& plan)
    : plan_(plan),
      streams_(plan.out->streams.size()),
      collected_(plan.graph.machine().tiles(), 0),
      last_(plan.graph.machine().tiles(), 0),
      participants_(plan.actions.size()),
      found_(plan.actions.size(), 0) {}

void ControlCode::count(const Node& root, std::vector<std::uint64_t>& instructions) {
  for (Stream& s : streams_) s = {};
  visit(root, instructions);
  for (std::size_t s = 0; s < streams_.size(); ++s)
    for (const TileId t : plan_.out->streams[s].tiles) {
      instructions[t.index()] += between(streams_[s], last_[t.index()], streams_[s].steps + 1);
      last_[t.index()] = 0;
    }
}

namespace {

// Steps whose tables say which tiles have a part of them. Of the others each stream that is named does something.
bool concerns_some(tile::Op op) {
  using tile::Work;
  const Work work = tile::row_of(op).work;
  return work == Work::compute || work == Work::exchange || work == Work::cross_replica || work == Work::transfer || work == Work::print;
}

}  // namespace

void ControlCode::visit(const Node& n, std::vector<std::uint64_t>& instructions) {
  if (n.kind == Node::Kind::action) {
    const Action& action = plan_.actions[n.action];
    if (tile::row_of(action.op).work == tile::Work::undefine) return;
    if (!concerns_some(action.op)) {
      for (const StreamId s : n.streams) add_common(s, 1);
      return;
    }
    for (const StreamId s : n.streams) ++streams_[s.index()].steps;
    for (const TileId t : tiles_of(n.action)) {
      const Stream& stream = streams_[plan_.stream_of_tile[t.index()].index()];
      instructions[t.index()] += between(stream, last_[t.index()], stream.steps) + 1;
      last_[t.index()] = stream.steps;
    }
    return;
  }
  if (n.kind != Node::Kind::sequence)
    for (const StreamId s : n.streams) add_common(s, 2);
  for (const Node& c : n.children) visit(c, instructions);
}

void ControlCode::add_common(StreamId id, std::uint32_t instructions) {
  Stream& s = streams_[id.index()];
  ++s.steps;
  const bool first = s.common.empty();
  const std::uint32_t before = first ? 0 : s.common.back();
  s.stretches.push_back((first ? 0 : s.stretches.back()) + (s.steps > before + 1));
  s.instructions.push_back((first ? 0 : s.instructions.back()) + instructions);
  s.common.push_back(s.steps);
}

std::uint64_t ControlCode::between(const Stream& s, std::uint32_t last, std::uint32_t next) const {
  const auto first = std::upper_bound(s.common.begin(), s.common.end(), last);
  const auto end = std::lower_bound(first, s.common.end(), next);
  if (first == end) return next > last + 1;
  const auto a = static_cast<std::size_t>(first - s.common.begin()), b = static_cast<std::size_t>(end - s.common.begin()) - 1;
  const std::uint64_t instructions = s.instructions[b] - (a == 0 ? 0 : s.instructions[a - 1]);
  return instructions + (s.stretches[b] - s.stretches[a]) + (s.common[a] > last + 1) + (next > s.common[b] + 1);
}

const std::vector<TileId>& ControlCode::tiles_of(ActionId id) {
  std::vector<TileId>& tiles = participants_[id.index()];
  if (found_[id.index()]) return tiles;
  found_[id.index()] = 1;
  ++collection_;
  collect(plan_.actions[id], tiles);
  tiles.shrink_to_fit();
  return tiles;
}

void ControlCode::collect(const Action& action, std::vector<TileId>& tiles) {
  const auto add = [&](TileId t) {
    if (std::exchange(collected_[t.index()], collection_) != collection_) tiles.push_back(t);
  };
  const auto add_shard = [&](ShardId s) {
    if (s.valid()) add(plan_.shards[s].tile);
  };
  const auto add_moves = [&](const std::vector<SymbolicMove>& moves) {
    for (const SymbolicMove& m : moves) add_shard(m.source.shard), add_shard(m.destination.shard);
  };
  const tile::Work work = tile::row_of(action.op).work;
  if (work == tile::Work::compute) {
    const SymbolicCompute& c = plan_.computes[action.a];
    for (const SymbolicVertex& v : c.vertices) add(plan_.graph.vertices()[v.vertex].tile);
    add_moves(c.bound);
    for (const auto& [stream, at] : c.results) add_shard(at.shard);
  } else if (work == tile::Work::exchange || work == tile::Work::cross_replica) {
    add_moves(plan_.exchanges[action.a].receive);
    add_moves(plan_.exchanges[action.a].arrange);
  } else {
    add_moves(plan_.transfers[action.a].moves);
    for (const Address& row : plan_.transfers[action.a].rows) add_shard(row.shard);
  }
}

}  // namespace pando::compile
