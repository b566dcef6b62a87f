// Which tiles use what, and where to put it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "poplibs/poputil/reject.h"
#include "poputil/TileMapping.hpp"
#include "poputil/Util.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {

using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poplar::VariableRef;

namespace {

struct Use {
  Interval interval;  // of a variable
  unsigned tile;
};
using Uses = std::vector<Use>;

}  // namespace

class TensorUseTrackerState {
 public:
  unsigned tiles = 0, start = 0;
  bool ascending = true;
  std::map<VariableRef, Uses> uses;  // ordered: results do not depend on addresses or hashes

  // Position of a tile in the order in which shared elements are dealt out.
  unsigned position(unsigned tile) const { return invTransformTileIndex(tile, tiles, start, ascending); }
};

namespace {

using Users = std::vector<unsigned>;  // tiles, in dealing order

// The sets of users that occur, each once.
class UserSets {
 public:
  std::size_t id_of(std::uint64_t hash, const std::map<unsigned, unsigned>& active) {
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (same(sets_[it->second], active)) return it->second;
    by_hash_.emplace(hash, sets_.size());
    Users users;
    for (const auto& [position, count] : active) users.push_back(position);
    sets_.push_back(std::move(users));
    return sets_.size() - 1;
  }
  std::size_t size() const { return sets_.size(); }
  const Users& operator[](std::size_t id) const { return sets_[id]; }

 private:
  static bool same(const Users& a, const std::map<unsigned, unsigned>& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](unsigned x, const auto& y) { return x == y.first; });
  }
  std::vector<Users> sets_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash_;
};

// Elements of a variable with the same users.
struct Segment {
  VariableRef variable;
  Interval interval;
  std::size_t users;
};

std::uint64_t mixed(std::uint64_t x) {  // the finaliser of SplitMix64
  x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Cuts a variable's used elements into segments. Users of a part of a grain use all of it.
void add_segments(VariableRef variable, const Uses& uses, std::size_t grain, const TensorUseTrackerState& st, UserSets& sets,
                  std::vector<Segment>& segments) {
  struct Event {
    std::size_t at;
    unsigned position;
    bool begins;
  };
  std::vector<Event> events;
  std::vector<Interval> used;
  for (const Use& use : uses) {
    const unsigned position = st.position(use.tile);
    events.push_back({use.interval.begin() / grain * grain, position, true});
    events.push_back({(use.interval.end() + grain - 1) / grain * grain, position, false});
    used.push_back(use.interval);
  }
  mergeAdjacentRegions(used);
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
  std::map<unsigned, unsigned> active;  // position, how many of its uses are open
  std::uint64_t hash = 0;
  std::size_t next_used = 0;
  for (std::size_t e = 0; e < events.size();) {
    const std::size_t at = events[e].at;
    for (; e < events.size() && events[e].at == at; ++e) {
      const Event& event = events[e];
      unsigned& count = active[event.position];
      if (event.begins ? count++ == 0 : --count == 0) hash += event.begins ? mixed(event.position) : -mixed(event.position);
    }
    std::erase_if(active, [](const auto& entry) { return entry.second == 0; });
    if (active.empty()) continue;
    const std::size_t end = events[e].at;
    const std::size_t users = sets.id_of(hash, active);
    for (; next_used < used.size() && used[next_used].begin() < end; ++next_used) {
      const Interval in(std::max(at, used[next_used].begin()), std::min(end, used[next_used].end()));
      if (in.begin() < in.end()) segments.push_back({variable, in, users});
      if (used[next_used].end() > end) break;
    }
  }
}

// Gives elements between segments of a variable the users of the segment before them, or, at the beginning, after them.
void extend(const Graph& graph, std::vector<Segment>& segments) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment& s = segments[i];
    const bool first = i == 0 || segments[i - 1].variable != s.variable;
    const bool last = i + 1 == segments.size() || segments[i + 1].variable != s.variable;
    const std::size_t end = last ? graph.getVariable(s.variable).numElements() : segments[i + 1].interval.begin();
    s.interval = Interval(first ? 0 : s.interval.begin(), end);
  }
}

bool is_subset(const Users& part, const Users& all) {
  return part.size() < all.size() && std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// Decides for each segment; the result is uses with one tile per element.
class Resolver {
 public:
  Resolver(const TensorUseTrackerState& st, const UserSets& sets, const std::vector<Segment>& segments, unsigned grain, unsigned least)
      : st_(st), sets_(sets), segments_(segments), grain_(grain), least_(least), load_(st.tiles), placed_(segments.size()) {}

  std::map<VariableRef, Uses> resolve(bool follow_neighbours) {
    std::vector<std::vector<std::size_t>> by_users(sets_.size());
    std::vector<std::size_t> halos;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      if (follow_neighbours && neighbour(i) != i)
        halos.push_back(i);
      else
        by_users[segments_[i].users].push_back(i);
    }
    // What has one user is where it must be; then what is shared goes to whom has least.
    for (const bool shared : {false, true})
      for (std::size_t users = 0; users < sets_.size(); ++users)
        if ((sets_[users].size() > 1) == shared && !by_users[users].empty()) deal(by_users[users], sets_[users]);
    // Fewer users first: a halo of halos follows one that has been placed.
    std::stable_sort(halos.begin(), halos.end(), [&](std::size_t a, std::size_t b) { return users_of(a).size() < users_of(b).size(); });
    for (const std::size_t i : halos) {
      const std::size_t next_to = neighbour(i);
      place(i, segments_[i].interval, next_to < i ? placed_[next_to].back().tile : placed_[next_to].front().tile);
    }
    std::map<VariableRef, Uses> out;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      Uses& uses = out[segments_[i].variable];
      uses.insert(uses.end(), placed_[i].begin(), placed_[i].end());
    }
    return out;
  }

 private:
  const Users& users_of(std::size_t segment) const { return sets_[segments_[segment].users]; }

  // The segment right before or after this one whose users all use this one as well, and it has more; itself if there is none.
  std::size_t neighbour(std::size_t i) const {
    const Segment& s = segments_[i];
    const auto leads = [&](std::size_t other, std::size_t its_edge, std::size_t edge) {
      return segments_[other].variable == s.variable && its_edge == edge && is_subset(users_of(other), users_of(i));
    };
    if (i > 0 && leads(i - 1, segments_[i - 1].interval.end(), s.interval.begin())) return i - 1;
    if (i + 1 < segments_.size() && leads(i + 1, segments_[i + 1].interval.begin(), s.interval.end())) return i + 1;
    return i;
  }

  void place(std::size_t segment, const Interval& interval, unsigned tile) {
    placed_[segment].push_back({interval, tile});
    load_[st_.position(tile)] += interval.size();
  }

  // Spreads segments evenly over their users: over all if there is enough for each, or over those with the least load.
  void deal(const std::vector<std::size_t>& segments, const Users& users) {
    // Offsets into the segments one after the other stand for elements.
    std::vector<Interval> regions;
    std::size_t n = 0;
    for (const std::size_t s : segments) {
      regions.emplace_back(n, n + segments_[s].interval.size());
      n += segments_[s].interval.size();
    }
    const auto parts = splitRegions(regions, grain_, static_cast<unsigned>(users.size()), least_);
    Users chosen = users;
    if (parts.size() < chosen.size()) {
      std::stable_sort(chosen.begin(), chosen.end(), [&](unsigned a, unsigned b) { return load_[a] < load_[b]; });
      chosen.resize(parts.size());
      std::sort(chosen.begin(), chosen.end());
    }
    std::size_t r = 0;
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const Interval& piece : parts[p]) {
        while (regions[r].end() <= piece.begin()) ++r;
        const std::size_t begin = segments_[segments[r]].interval.begin() + piece.begin() - regions[r].begin();
        place(segments[r], Interval(begin, begin + piece.size()), transformTileIndex(chosen[p], st_.tiles, st_.start, st_.ascending));
      }
  }

  const TensorUseTrackerState& st_;
  const UserSets& sets_;
  const std::vector<Segment>& segments_;
  unsigned grain_, least_;
  std::vector<std::size_t> load_;  // elements, by position
  std::vector<Uses> placed_;       // by segment
};

}  // namespace

TensorUseTracker::TensorUseTracker(unsigned numTiles, unsigned startTile, bool ascendingMappingOrder)
    : st(std::make_unique<TensorUseTrackerState>()) {
  if (numTiles == 0) poputil::reject("no-tiles", "TensorUseTracker: no tiles");
  st->tiles = numTiles;
  st->start = startTile % numTiles;
  st->ascending = ascendingMappingOrder;
}
TensorUseTracker::TensorUseTracker(const TensorUseTracker& other) : st(std::make_unique<TensorUseTrackerState>(*other.st)) {}
TensorUseTracker::TensorUseTracker(TensorUseTracker&& other) = default;
TensorUseTracker& TensorUseTracker::operator=(const TensorUseTracker& other) {
  if (this != &other) st = std::make_unique<TensorUseTrackerState>(*other.st);
  return *this;
}
TensorUseTracker& TensorUseTracker::operator=(TensorUseTracker&& other) = default;
TensorUseTracker::~TensorUseTracker() = default;

void TensorUseTracker::add(const Graph&, unsigned tile, const Tensor& t) {
  if (tile >= st->tiles) poputil::reject("no-such-tile", "TensorUseTracker: tile {} of {}", tile, st->tiles);
  for (const poplar::VariableInterval& region : t.getVarRegions())
    if (region.interval.size() != 0) st->uses[region.var].push_back({region.interval, tile});
}

void TensorUseTracker::add(TensorUseTracker other) {
  if (other.st->tiles != st->tiles)
    poputil::reject("tile-count", "TensorUseTracker: a tracker of {} tiles added to one of {}", other.st->tiles, st->tiles);
  for (auto& [variable, uses] : other.st->uses) {
    Uses& mine = st->uses[variable];
    mine.insert(mine.end(), uses.begin(), uses.end());
  }
}

void TensorUseTracker::resolve(const Graph& graph, unsigned grainSize, unsigned minElementsPerTile, bool extendPartialUsage,
                               MappingMethod mappingMethod) {
  const unsigned grain = std::max(1u, grainSize);
  const bool constrain = mappingMethod == MappingMethod::ConstrainMappingToUsedTiles;
  UserSets sets;
  std::vector<Segment> segments;
  for (const auto& [variable, uses] : st->uses) add_segments(variable, uses, constrain ? 1 : grain, *st, sets, segments);
  if (extendPartialUsage) extend(graph, segments);
  st->uses =
      Resolver(*st, sets, segments, grain, constrain ? 0 : minElementsPerTile).resolve(mappingMethod == MappingMethod::OptimizeHaloRegions);
}

void TensorUseTracker::mapTensorsByUse(Graph& graph, unsigned grainSize, unsigned minElementsPerTile, bool extendPartialUsage,
                                       MappingMethod mappingMethod) {
  resolve(graph, grainSize, minElementsPerTile, extendPartialUsage, mappingMethod);
  for (const auto& [variable, uses] : st->uses) {
    Graph::TileToTensorMapping mapping(st->tiles);
    std::vector<Interval> used;
    for (const Use& use : uses) used.push_back(use.interval);
    std::size_t at = 0;
    for (const Use& use : uses) {
      mapping[use.tile].emplace_back(at, at + use.interval.size());
      at += use.interval.size();
    }
    mergeAdjacentRegions(mapping);
    graph.setTileMapping(poplar::concat(graph.getVariable(variable).flatten().slices(used)), mapping);
  }
}

bool TensorUseTracker::empty() const { return st->uses.empty(); }

}  // namespace poputil
