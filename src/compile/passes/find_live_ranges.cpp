// Cuts every shard into fragments with one live range each (contract 8: per byte range of a variable on a tile).
//
// Atoms are the longest byte ranges with one access pattern. Neighbouring atoms stay together where a vertex operand spans them
// (its bytes must stay together), where their live ranges are the same, or where the cut would break the shard's alignment.
#include <algorithm>
#include <numeric>
#include <span>

#include "base/check.h"
#include "base/process/stop.h"
#include "compile/liveness.h"
#include "compile/plan.h"

namespace pando::compile {

namespace {

struct PatternHash {
  std::size_t operator()(const AccessPattern& p) const {
    std::uint64_t h = p.size();
    for (const ActionAccess& a : p) h = (h ^ (std::uint64_t{a.action.value} << 3 | static_cast<unsigned>(a.kind))) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

class Fragments {
 public:
  explicit Fragments(Plan& plan) : plan_(plan), ranges_(plan) {}

  void run() {
    plan_.fragments.reserve(plan_.shards.size());
    always_ = intern(ranges_.everything());
    const std::vector<std::uint32_t> sorted = sorted_by_shard();
    std::vector<ShardAccess> own;  // the shard's
    std::size_t at = 0;
    for (std::uint32_t s = 0; s < plan_.shards.size(); ++s) {
      check_stop();
      own.clear();
      for (; at < sorted.size() && plan_.accesses[sorted[at]].shard.value == s; ++at) own.push_back(plan_.accesses[sorted[at]]);
      plan_.fragments.add_shard();
      cut(ShardId(s), own);
    }
    plan_.accesses = {};
  }

 private:
  // Numbers of accesses: there are millions, and a second list of them would double what the pass needs.
  std::vector<std::uint32_t> sorted_by_shard() {
    PANDO_CHECK(plan_.accesses.size() <= ~0u);
    std::vector<std::uint32_t> first(plan_.shards.size() + 1, 0);
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) ++first[plan_.accesses[i].shard.index() + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> sorted(plan_.accesses.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[first[plan_.accesses[i].shard.index()]++] = i;
    return sorted;
  }

  std::uint32_t intern(const tile::LiveRange& range) {
    const auto [it, added] = range_ids_.try_emplace(range, static_cast<std::uint32_t>(plan_.out->live_ranges.size()));
    if (added) plan_.out->live_ranges.push_back(range);
    return it->second;
  }

  std::uint32_t live_of(const AccessPattern& pattern) {
    if (last_ != nullptr && last_->first == pattern) return last_->second;  // as of the same variable on another tile
    const auto [it, added] = patterns_.try_emplace(pattern, 0);
    if (added) it->second = intern(ranges_.of(pattern, false));
    last_ = &*it;
    return it->second;
  }

  void cut(ShardId s, std::span<const ShardAccess> accesses) {
    Shard& shard = plan_.shards[s];
    if (shard.bytes == 0) return;
    const Interval all{0, shard.bytes};
    if (shard.always_live) return plan_.fragments.add({all, always_});
    if (accesses.empty()) return;  // never touched: no memory
    AccessPattern& pattern = pattern_;
    if (one_access_each(accesses, all, pattern) || one_pattern(accesses, all, pattern)) return plan_.fragments.add({all, live_of(pattern)});
    cut_into_atoms(s, accesses);
  }

  // The most common case: every action touches all bytes at once.
  static bool one_access_each(std::span<const ShardAccess> accesses, Interval all, AccessPattern& pattern) {
    pattern.clear();
    for (const ShardAccess& a : accesses) {
      if (a.bytes.begin > all.begin || a.bytes.end < all.end || (!pattern.empty() && a.action <= pattern.back().action)) return false;
      pattern.push_back({a.action, a.kind});
    }
    return true;
  }

  // A common case: every action touches all bytes, perhaps in several accesses.
  bool one_pattern(std::span<const ShardAccess> accesses, Interval all, AccessPattern& pattern) {
    pattern.clear();
    group(accesses);
    for (const Group& g : groups())
      if (g.parts.size() != 1 || g.parts[0].begin > all.begin || g.parts[0].end < all.end) {
        // Padding between intervals is nobody's: what covers all but padding covers all.
        if (total_size(g.parts) + 8 * g.parts.size() < all.size()) return false;
        if (g.parts.front().begin != 0 || g.parts.back().end != all.end) return false;
        for (std::size_t i = 1; i < g.parts.size(); ++i)
          if (g.parts[i].begin - g.parts[i - 1].end >= 8 || g.parts[i].begin % 8 != 0) return false;
      }
    for (const Group& g : groups()) {
      if (!pattern.empty() && pattern.back().action == g.action)
        pattern.back().kind = combined(pattern.back().kind, g.kind);
      else
        pattern.push_back({g.action, g.kind});
    }
    return true;
  }

  struct Group {
    ActionId action;
    AccessKind kind = AccessKind::read;
    std::vector<Interval> parts;  // sorted, joined
  };

  void group(std::span<const ShardAccess> accesses) {
    group_count_ = 0;
    order_.resize(accesses.size());
    std::iota(order_.begin(), order_.end(), 0u);
    const auto key = [&](std::uint32_t i) { return std::tuple(accesses[i].action, accesses[i].kind, accesses[i].bytes.begin); };
    const auto less = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
    if (!std::is_sorted(order_.begin(), order_.end(), less)) std::sort(order_.begin(), order_.end(), less);
    for (const std::uint32_t i : order_) {
      const ShardAccess& a = accesses[i];
      if (group_count_ == 0 || groups_[group_count_ - 1].action != a.action || groups_[group_count_ - 1].kind != a.kind) add_group(a);
      std::vector<Interval>& parts = groups_[group_count_ - 1].parts;
      if (!parts.empty() && parts.back().end >= a.bytes.begin)
        parts.back().end = std::max(parts.back().end, a.bytes.end);
      else
        parts.push_back(a.bytes);
    }
  }

  // Groups keep their memory from one shard to the next.
  void add_group(const ShardAccess& a) {
    if (group_count_ == groups_.size()) groups_.emplace_back();
    Group& g = groups_[group_count_++];
    g.action = a.action;
    g.kind = a.kind;
    g.parts.clear();
  }
  std::span<const Group> groups() const { return std::span(groups_).first(group_count_); }

  void cut_into_atoms(ShardId s, std::span<const ShardAccess> accesses) {
    const Shard& shard = plan_.shards[s];
    std::vector<std::uint64_t> cuts{0, shard.bytes};
    for (const Group& g : groups())
      for (const Interval& i : g.parts) cuts.insert(cuts.end(), {i.begin, i.end});
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<AccessPattern> patterns(cuts.size() - 1);
    for (const Group& g : groups())
      for (const Interval& i : g.parts)
        for (auto a = static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), i.begin) - cuts.begin());
             a < patterns.size() && cuts[a] < i.end; ++a) {
          if (!patterns[a].empty() && patterns[a].back().action == g.action)
            patterns[a].back().kind = combined(patterns[a].back().kind, g.kind);
          else
            patterns[a].push_back({g.action, g.kind});
        }
    const std::vector<bool> joined =
        plan_.options.split_variables ? joined_cuts(accesses, cuts, shard.align) : std::vector<bool>(cuts.size(), true);
    std::vector<Fragment> fragments;
    constexpr std::uint32_t kNone = ~0u;
    for (std::size_t a = 0; a < patterns.size(); ++a) {
      const std::uint32_t live = patterns[a].empty() ? kNone : live_of(patterns[a]);
      if (a > 0 && !fragments.empty() && fragments.back().bytes.end == cuts[a] &&
          (joined[a] || fragments.back().live == live || (live == kNone && cuts[a + 1] - cuts[a] < 8))) {
        fragments.back().bytes.end = cuts[a + 1];
        fragments.back().live = both(fragments.back().live, live);
      } else if (live != kNone || (a > 0 && joined[a])) {
        fragments.push_back({{cuts[a], cuts[a + 1]}, live});
      } else if (a + 1 < patterns.size() && joined[a + 1]) {
        fragments.push_back({{cuts[a], cuts[a + 1]}, kNone});
      }
    }
    for (const Fragment& f : fragments)
      if (f.live != kNone) plan_.fragments.add(f);
  }

  // May the shard not be cut there? cuts[i] is a place between atoms i-1 and i.
  static std::vector<bool> joined_cuts(std::span<const ShardAccess> accesses, const std::vector<std::uint64_t>& cuts, std::uint32_t align) {
    std::vector<bool> joined(cuts.size(), false);
    const std::uint64_t unit = std::max<std::uint64_t>(align, 8);
    for (std::size_t i = 0; i < cuts.size(); ++i) joined[i] = cuts[i] % unit != 0;
    std::vector<Interval> spans;
    for (const ShardAccess& a : accesses)
      if (a.whole) spans.push_back(a.bytes);
    std::sort(spans.begin(), spans.end());
    std::uint64_t reach = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      while (next < spans.size() && spans[next].begin < cuts[i]) reach = std::max(reach, spans[next++].end);
      if (reach > cuts[i]) joined[i] = true;
    }
    return joined;
  }

  std::uint32_t both(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t kNone = ~0u;
    if (a == b || b == kNone) return a;
    if (a == kNone) return b;
    tile::LiveRange all = plan_.out->live_ranges[a];
    all.insert(all.end(), plan_.out->live_ranges[b].begin(), plan_.out->live_ranges[b].end());
    normalise(all);
    return intern(all);
  }

  struct RangeHash {
    std::size_t operator()(const tile::LiveRange& r) const {
      std::uint64_t h = r.size();
      for (const auto& [b, e] : r) h = (h ^ (std::uint64_t{b} << 32 | e)) * 0x9e3779b97f4a7c15ull;
      return static_cast<std::size_t>(h ^ (h >> 32));
    }
  };

  Plan& plan_;
  LiveRanges ranges_;
  std::uint32_t always_ = 0;
  std::unordered_map<AccessPattern, std::uint32_t, PatternHash> patterns_;   // looked up, never iterated
  const std::pair<const AccessPattern, std::uint32_t>* last_ = nullptr;      // of them
  AccessPattern pattern_;                                                    // of the shard at hand
  std::unordered_map<tile::LiveRange, std::uint32_t, RangeHash> range_ids_;  // looked up, never iterated
  std::vector<Group> groups_;
  std::size_t group_count_ = 0;
  std::vector<std::uint32_t> order_;
};

}  // namespace

void find_live_ranges(Plan& plan) { Fragments(plan).run(); }

}  // namespace pando::compile
