#include "compile/passes/copy_group.h"

#include <algorithm>

#include "compile/communicate.h"

namespace pando::compile {

bool CopyGroup::Ranges::meets(ShardId shard, Interval bytes) const {
  auto next = ends_.lower_bound({shard, bytes.begin});
  if (next != ends_.end() && next->first.first == shard && next->first.second < bytes.end) return true;
  if (next == ends_.begin()) return false;
  --next;
  return next->first.first == shard && next->second > bytes.begin;
}

void CopyGroup::Ranges::add(ShardId shard, Interval bytes) {
  auto next = ends_.lower_bound({shard, bytes.begin});
  if (next != ends_.begin())
    if (const auto before = std::prev(next); before->first.first == shard && before->second >= bytes.begin) {
      bytes.begin = before->first.second;
      bytes.end = std::max(bytes.end, before->second);
      next = before;
    }
  while (next != ends_.end() && next->first.first == shard && next->first.second <= bytes.end) {
    bytes.end = std::max(bytes.end, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, std::pair(shard, bytes.begin), bytes.end);
}

void CopyGroup::Shards::add(ShardId s) {
  least = least.valid() ? std::min(least, s) : s;
  most = most.valid() ? std::max(most, s) : s;
}

bool CopyGroup::Shards::meets(const Shards& other) const {
  return least.valid() && other.least.valid() && least <= other.most && other.least <= most;
}

void CopyGroup::Ends::add(const std::vector<SymbolicMove>& moves) {
  for (const SymbolicMove& m : moves) {
    sources.add(m.source.shard);
    destinations.add(m.destination.shard);
  }
}

void CopyGroup::enter(const std::vector<SymbolicMove>& moves) {
  for (const SymbolicMove& m : moves) {
    read_.add(m.source.shard, source_hull(m));
    written_.add(m.destination.shard, destination_hull(m));
  }
}

void CopyGroup::begin_with(tile::NameId name, std::vector<SymbolicMove> moves, std::vector<StreamId> streams, bool reads_once) {
  name_ = name;
  reads_once_ = reads_once;
  lines_.clear();
  copies_ = 1;
  alone_ = entered_ = false;
  moves_ = std::move(moves);
  streams_ = std::move(streams);
  ends_ = {};
  ends_.add(moves_);
}

void CopyGroup::add_line(std::uint32_t line) {
  if (line > 0 && std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(line);
}

bool CopyGroup::add(const std::vector<SymbolicMove>& moves, const std::vector<StreamId>& streams, bool reads_once) {
  if (empty() || alone_ || streams != streams_) return false;
  if (!entered_) {
    Ends own, all = ends_;
    own.add(moves);
    all.add(moves);
    if (!all.sources.meets(all.destinations) && !own.destinations.meets(ends_.destinations)) {
      reads_once_ = reads_once_ && reads_once && !own.sources.meets(ends_.sources);
      ends_ = all;
      moves_.insert(moves_.end(), moves.begin(), moves.end());
      ++copies_;
      return true;
    }
    read_.clear();
    written_.clear();
    enter(moves_);
    entered_ = true;
    const auto touches = [&](const SymbolicMove& m) { return written_.meets(m.source.shard, source_hull(m)); };
    if (alone_ = std::any_of(moves_.begin(), moves_.end(), touches); alone_) return false;  // it would be staged, and others with it
  }
  for (const SymbolicMove& m : moves)
    if (written_.meets(m.source.shard, source_hull(m)) || written_.meets(m.destination.shard, destination_hull(m)) ||
        read_.meets(m.destination.shard, destination_hull(m)))
      return false;
  Ranges own;
  for (const SymbolicMove& m : moves) own.add(m.destination.shard, destination_hull(m));
  for (const SymbolicMove& m : moves)
    if (own.meets(m.source.shard, source_hull(m))) return false;
  reads_once_ = false;
  enter(moves);
  moves_.insert(moves_.end(), moves.begin(), moves.end());
  ++copies_;
  return true;
}

std::vector<SymbolicMove> CopyGroup::take() {
  copies_ = 0;
  return std::move(moves_);
}

}  // namespace pando::compile
