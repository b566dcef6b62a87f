#include "allocate/search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>

#include "allocate/search_order.h"
#include "allocate/search_state.h"
#include "base/check.h"

namespace pando::allocate {
namespace {

// Offsets, loads and the sentinel for "far" fit 32 bits below this many units.
constexpr std::uint64_t kMaxNarrow = std::uint64_t{1} << 28;
constexpr std::uint64_t kMaxWide = std::uint64_t{1} << 60;

template <class Word>
class Search {
 public:
  Search(const AllocationProblem& problem, const UnitProblem<Word>& units, const AllocationOptions& options)
      : problem_(problem), units_(units), sections_(*units.sections), options_(options), propagator_(units, options) {
    const std::size_t n = problem.buffers.size();
    for (std::size_t i = 0; i < n; ++i) hulls_.push_back(sections_.hull(i));
    offsets_.resize(n);
    weights_.assign(sections_.count, 0);
    next_here_.resize(sections_.count);
    find_alike();
  }

  SearchResult solve(std::uint64_t node_budget);

 private:
  enum class Outcome : std::uint8_t { found, none, out_of_nodes };
  struct Frame {
    Node<Word> node;
    std::vector<std::uint8_t> tried;
    std::uint32_t section = Propagator<Word>::kNone;  // of the branch, if it must stay
  };
  static constexpr std::uint32_t kNone = Propagator<Word>::kNone;

  void find_alike();
  Outcome run(std::uint64_t node_limit);
  void make_root();
  Outcome descend(std::size_t depth);
  Outcome place(std::size_t depth, std::uint32_t item);
  std::size_t make_child(std::size_t depth, std::uint32_t item, std::size_t from);
  void mark_tried(Frame& frame, std::uint32_t item);

  std::uint32_t choose_section(const Node<Word>& node);
  bool prefer_section(const Node<Word>& node, std::uint32_t a, std::uint32_t b) const;
  void find_candidates(const Node<Word>& node, std::uint32_t section);
  std::uint32_t choose_item(Frame& frame);

  bool conflict(std::uint32_t a, std::uint32_t b) const {
    if (hulls_[a].begin >= hulls_[b].end || hulls_[b].begin >= hulls_[a].end) return false;
    const bool whole = sections_.first[a + 1] - sections_.first[a] == 1 && sections_.first[b + 1] - sections_.first[b] == 1;
    return whole || sections_.conflict(a, b);
  }
  Frame& frame_at(std::size_t depth) {
    while (frames_.size() <= depth) frames_.push_back(std::make_unique<Frame>());
    return *frames_[depth];
  }

  const AllocationProblem& problem_;
  const UnitProblem<Word>& units_;
  const Sections& sections_;
  const AllocationOptions& options_;
  Propagator<Word> propagator_;
  std::vector<Span> hulls_;
  std::vector<std::uint32_t> alike_;  // the first buffer that equals this one
  std::vector<std::uint32_t> rank_;   // of this run's order
  bool weighted_ = false;
  std::vector<std::uint64_t> weights_;  // per section: how often it was overfull
  std::vector<Word> offsets_;
  std::vector<std::unique_ptr<Frame>> frames_;  // by depth
  std::uint64_t nodes_ = 0, node_limit_ = 0;
  // Scratch of the choice.
  std::vector<std::uint32_t> next_here_;  // per section: items that can be its next
  std::vector<Word> latest_start_;        // per item; negative: not a candidate
  std::vector<std::uint32_t> queue_, below_;
};

template <class Word>
void Search<Word>::find_alike() {
  const std::vector<Buffer>& buffers = problem_.buffers;
  std::vector<std::uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t i) {
    const Buffer& b = buffers[i];
    return std::tie(b.size, b.live, b.align, b.lowest, b.highest_end, b.fixed);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::tuple_cat(key(a), std::tie(a)) < std::tuple_cat(key(b), std::tie(b)); });
  alike_.resize(buffers.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    alike_[order[k]] = k > 0 && buffers[order[k]] == buffers[order[k - 1]] ? alike_[order[k - 1]] : order[k];
}

// Restarts: a run that took a wrong turn early never comes back to it; another order may not take it. Proofs that there is no
// placement need length instead: the second half of the nodes is one run.
template <class Word>
SearchResult Search<Word>::solve(std::uint64_t node_budget) {
  SearchResult result;
  for (std::uint64_t k = 0; nodes_ < node_budget; ++k) {
    const SearchRun next = search_run(k);
    rank_ = rank_buffers(problem_.buffers, sections_, next);
    weighted_ = next.weighted;
    const std::uint64_t left = node_budget - nodes_;
    const bool long_run = !options_.restarts || left <= node_budget / 2;
    const Outcome outcome = run(long_run ? left : std::min(left, next.nodes));
    if (outcome == Outcome::out_of_nodes) continue;
    result.status = outcome == Outcome::found ? AllocationStatus::solved : AllocationStatus::infeasible;
    if (outcome == Outcome::found) result.offsets.assign(offsets_.begin(), offsets_.end());
    result.nodes = nodes_;
    return result;
  }
  result.status = AllocationStatus::budget_exhausted;
  result.nodes = nodes_;
  return result;
}

template <class Word>
typename Search<Word>::Outcome Search<Word>::run(std::uint64_t node_limit) {
  node_limit_ = nodes_ + node_limit;
  make_root();
  return descend(0);
}

template <class Word>
void Search<Word>::make_root() {
  Frame& frame = frame_at(0);
  Node<Word>& node = frame.node;
  node.clear();
  node.buffer.resize(problem_.buffers.size());
  std::iota(node.buffer.begin(), node.buffer.end(), 0u);
  std::sort(node.buffer.begin(), node.buffer.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::tie(hulls_[a].begin, a) < std::tie(hulls_[b].begin, b); });
  for (const std::uint32_t b : node.buffer) node.ground.push_back(align_up(units_.buffers[b].lowest, units_.buffers[b].align));
  node.release = node.ground;
  node.asleep.assign(node.size(), 0);
  node.by_release.resize(node.size());
  std::iota(node.by_release.begin(), node.by_release.end(), 0u);
  node.first_section = 0;
  node.last_section = sections_.count;
  node.latest.assign(sections_.count, units_.capacity);
  for (const std::uint32_t b : node.buffer)
    for (const Span* span = sections_.begin_of(b); span != sections_.end_of(b); ++span)
      for (std::uint32_t s = span->begin; s < span->end; ++s) node.latest[s] -= units_.buffers[b].size;
}

// Tries to place all items of the node at `depth`. Offsets of found placements stay in offsets_.
template <class Word>
typename Search<Word>::Outcome Search<Word>::descend(std::size_t depth) {
  Frame& frame = frame_at(depth);
  frame.tried.assign(frame.node.size(), 0);
  frame.section = kNone;
  for (;;) {
    if (nodes_ >= node_limit_) return Outcome::out_of_nodes;
    ++nodes_;
    if (!propagator_.propagate(frame.node)) {
      if (propagator_.overfull_section() != kNone) ++weights_[propagator_.overfull_section()];
      return Outcome::none;
    }
    const std::uint32_t item = choose_item(frame);
    if (item == kNone) return Outcome::none;
    const Outcome outcome = place(depth, item);
    if (outcome != Outcome::none) return outcome;
    mark_tried(frame, item);
  }
}

template <class Word>
void Search<Word>::mark_tried(Frame& frame, std::uint32_t item) {
  const std::vector<std::uint32_t>& buffers = frame.node.buffer;
  std::vector<std::uint8_t>& marks = options_.canonical_only ? frame.node.asleep : frame.tried;
  marks[item] = 1;
  if (!options_.dominance) return;
  for (std::size_t other = 0; other < buffers.size(); ++other)
    if (alike_[buffers[other]] == alike_[buffers[item]]) marks[other] = 1;
}

// Places the item on its ground, below all open items that conflict with it, and solves the parts that are left.
template <class Word>
typename Search<Word>::Outcome Search<Word>::place(std::size_t depth, std::uint32_t item) {
  const Node<Word>& node = frame_at(depth).node;
  offsets_[node.buffer[item]] = node.ground[item];
  for (std::size_t from = 0; from < node.size();) {
    from = make_child(depth, item, from);
    const Node<Word>& child = frame_at(depth + 1).node;
    if (child.size() == 0) break;
    for (std::size_t k = 0; k < child.size(); ++k) {
      const UnitBuffer<Word>& b = units_.buffers[child.buffer[k]];
      if (child.release[k] > b.highest_end - b.size) return Outcome::none;
    }
    const Outcome outcome = descend(depth + 1);
    if (outcome != Outcome::found) return outcome;
  }
  return Outcome::found;
}

// The child at depth + 1 gets the next part of the items: from `from` up to where no item spans two sections. Returns the item
// after it.
template <class Word>
std::size_t Search<Word>::make_child(std::size_t depth, std::uint32_t item, std::size_t from) {
  Node<Word>& child = frame_at(depth + 1).node;
  const Node<Word>& node = frame_at(depth).node;
  const std::uint32_t placed = node.buffer[item];
  const Word top = node.ground[item] + units_.buffers[placed].size;
  child.clear();
  for (; from < node.size(); ++from) {
    if (from == item) continue;
    const std::uint32_t b = node.buffer[from];
    if (child.size() == 0) {
      child.first_section = child.last_section = hulls_[b].begin;
    } else if (options_.split_partitions && hulls_[b].begin >= child.last_section) {
      break;
    }
    child.last_section = std::max(child.last_section, hulls_[b].end);
    const bool raised = conflict(placed, b);
    const Word ground = raised ? std::max(node.ground[from], align_up(top, units_.buffers[b].align)) : node.ground[from];
    child.buffer.push_back(b);
    child.ground.push_back(ground);
    child.release.push_back(std::max(node.release[from], ground));
    child.asleep.push_back(raised ? 0 : node.asleep[from]);
  }
  child.by_release.resize(child.size());
  std::iota(child.by_release.begin(), child.by_release.end(), 0u);
  std::sort(child.by_release.begin(), child.by_release.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::tie(child.release[a], a) < std::tie(child.release[b], b); });
  child.latest.resize(sections_.count);
  std::copy(node.latest.begin() + child.first_section, node.latest.begin() + child.last_section,
            child.latest.begin() + child.first_section);
  for (const Span* span = sections_.begin_of(placed); span != sections_.end_of(placed); ++span)
    for (std::uint32_t s = std::max(span->begin, child.first_section); s < std::min(span->end, child.last_section); ++s)
      child.latest[s] += units_.buffers[placed].size;
  return from;
}

// Is section a a better place to branch than b? Few choices first; among equals the lower one, where little hangs below.
template <class Word>
bool Search<Word>::prefer_section(const Node<Word>& node, std::uint32_t a, std::uint32_t b) const {
  const std::uint64_t next_a = next_here_[a], next_b = next_here_[b];
  if (weighted_ && next_a > 1 && next_b > 1) {
    const std::uint64_t score_a = next_a * (1 + weights_[b]), score_b = next_b * (1 + weights_[a]);
    if (score_a != score_b) return score_a < score_b;
  } else if (next_a != next_b) {
    return next_a < next_b;
  }
  return node.latest[a] < node.latest[b];
}

template <class Word>
std::uint32_t Search<Word>::choose_section(const Node<Word>& node) {
  for (std::uint32_t s = node.first_section; s < node.last_section; ++s) next_here_[s] = 0;
  for (std::size_t item = 0; item < node.size(); ++item) {
    const std::uint32_t b = node.buffer[item];
    for (const Span* span = sections_.begin_of(b); span != sections_.end_of(b); ++span)
      for (std::uint32_t s = span->begin; s < span->end; ++s) next_here_[s] += node.release[item] <= node.latest[s];
  }
  std::uint32_t best = kNone;
  for (std::uint32_t s = node.first_section; s < node.last_section; ++s)
    if (next_here_[s] != 0 && (best == kNone || prefer_section(node, s, best))) best = s;
  return best;
}

// The first buffer of the section starts no later than latest[section]. It, or a buffer that it rests on, or one that that one
// rests on ..., lies on its ground. So one of these is the next to place, in every completion.
template <class Word>
void Search<Word>::find_candidates(const Node<Word>& node, std::uint32_t section) {
  const Word latest = node.latest[section];
  latest_start_.assign(node.size(), -1);
  queue_.clear();
  below_.clear();
  for (std::uint32_t item = 0; item < node.size(); ++item) {
    if (node.release[item] > latest) continue;
    const std::uint32_t b = node.buffer[item];
    if (std::any_of(sections_.begin_of(b), sections_.end_of(b), [&](const Span& s) { return s.begin <= section && section < s.end; })) {
      latest_start_[item] = latest;
      queue_.push_back(item);
    } else if (node.release[item] + units_.buffers[b].size <= latest) {
      below_.push_back(item);
    }
  }
  // Those of the section can support each other too, but then the lower one is the first.
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::uint32_t above = queue_[head];
    for (const std::uint32_t item : below_) {
      const Word start = latest_start_[above] - units_.buffers[node.buffer[item]].size;
      if (node.release[item] > start || latest_start_[item] >= start || !conflict(node.buffer[above], node.buffer[item])) continue;
      latest_start_[item] = start;
      queue_.push_back(item);
    }
  }
}

// The candidate to try next: the lowest, then the first of this run's order. None if all were tried.
template <class Word>
std::uint32_t Search<Word>::choose_item(Frame& frame) {
  const Node<Word>& node = frame.node;
  if (options_.section_first) {
    if (frame.section == kNone || options_.canonical_only) frame.section = choose_section(node);
    if (frame.section == kNone) return kNone;
    find_candidates(node, frame.section);
  } else {
    latest_start_.assign(node.size(), 0);
  }
  std::uint32_t best = kNone;
  for (std::uint32_t item = 0; item < node.size(); ++item) {
    if (latest_start_[item] < 0 || node.asleep[item] || frame.tried[item] || node.release[item] != node.ground[item]) continue;
    if (best == kNone || std::tie(node.release[item], rank_[node.buffer[item]]) < std::tie(node.release[best], rank_[node.buffer[best]]))
      best = item;
  }
  return best;
}

std::uint64_t highest_end(const Buffer& b, std::uint64_t capacity) {
  const std::uint64_t end = std::min(b.highest_end, capacity);
  return b.fixed ? std::min(end, *b.fixed + b.size) : end;
}
std::uint64_t lowest_offset(const Buffer& b) { return b.fixed ? *b.fixed : b.lowest; }

// Left-justified offsets are sums of sizes over bounds, rounded up to alignments: all multiples of this.
std::uint64_t unit_of(const AllocationProblem& problem) {
  std::uint64_t unit = 0;
  for (const Buffer& b : problem.buffers) unit = std::gcd(std::gcd(unit, b.size), lowest_offset(b));
  for (bool changed = true; changed;) {
    changed = false;
    for (const Buffer& b : problem.buffers) {
      if (b.fixed || unit % b.align == 0 || b.align % unit == 0) continue;
      unit = std::gcd(unit, b.align);
      changed = true;
    }
  }
  return unit;
}

template <class Word>
SearchResult search_in_units(const AllocationProblem& problem, const Sections& sections, const AllocationOptions& options,
                             std::uint64_t node_budget, std::uint64_t unit) {
  UnitProblem<Word> units;
  units.capacity = static_cast<Word>(problem.capacity / unit);
  units.sections = &sections;
  for (const Buffer& b : problem.buffers) {
    const std::uint64_t align = b.fixed || unit % b.align == 0 ? 1 : b.align / unit;
    units.buffers.push_back({static_cast<Word>(b.size / unit), static_cast<Word>(lowest_offset(b) / unit),
                             static_cast<Word>(highest_end(b, problem.capacity) / unit), static_cast<Word>(align)});
  }
  SearchResult result = Search<Word>(problem, units, options).solve(node_budget);
  for (std::uint64_t& offset : result.offsets) offset *= unit;
  return result;
}

}  // namespace

SearchResult search_allocation(const AllocationProblem& problem, const Sections& sections, const AllocationOptions& options,
                               std::uint64_t node_budget) {
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) PANDO_CHECK(problem.buffers[i].size > 0 && !problem.buffers[i].live.empty());
  if (problem.buffers.empty()) return {.status = AllocationStatus::solved};
  const std::uint64_t unit = unit_of(problem);
  std::uint64_t largest = problem.capacity;
  for (const std::uint64_t load : sections.load) largest = std::max(largest, load);
  for (const Buffer& b : problem.buffers) largest = std::max({largest, lowest_offset(b) + b.size, b.fixed ? 0 : b.align});
  PANDO_CHECK(largest / unit < kMaxWide);
  return largest / unit < kMaxNarrow ? search_in_units<std::int32_t>(problem, sections, options, node_budget, unit)
                                     : search_in_units<std::int64_t>(problem, sections, options, node_budget, unit);
}

}  // namespace pando::allocate
