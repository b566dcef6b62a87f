#include "compile/liveness.h"

#include <algorithm>
#include <set>

namespace pando::compile {

AccessKind combined(AccessKind a, AccessKind b) {
  if (a == b) return a;
  const auto reads = [](AccessKind k) { return k == AccessKind::read || k == AccessKind::modify; };
  if (reads(a) || reads(b)) {
    const bool only_reads = (a == AccessKind::read || a == AccessKind::undefine) && (b == AccessKind::read || b == AccessKind::undefine);
    return only_reads ? AccessKind::read : AccessKind::modify;
  }
  if (a == AccessKind::write || b == AccessKind::write) return AccessKind::write;
  return AccessKind::partial;
}

void normalise(tile::LiveRange& range) {
  std::sort(range.begin(), range.end());
  std::size_t out = 0;
  for (const auto& r : range) {
    if (r.first >= r.second) continue;
    if (out > 0 && range[out - 1].second >= r.first)
      range[out - 1].second = std::max(range[out - 1].second, r.second);
    else
      range[out++] = r;
  }
  range.resize(out);
}

namespace {

void collect(const Node& n, std::vector<std::vector<std::uint32_t>>& positions, std::vector<std::pair<std::uint32_t, FunctionId>>& calls) {
  if (n.kind == Node::Kind::action || n.kind == Node::Kind::call) positions[n.action.index()].push_back(n.begin);
  if (n.kind == Node::Kind::call) calls.emplace_back(n.begin, n.function);
  for (const Node& c : n.children) collect(c, positions, calls);
}

}  // namespace

LiveRanges::LiveRanges(const Plan& plan)
    : plan_(plan),
      orders_(std::max(plan.orders, 1u)),
      positions_(plan.actions.size()),
      call_positions_(plan.function_bodies.size()),
      function_orders_(plan.function_bodies.size()),
      function_marked_(plan.function_bodies.size()),
      function_memo_(plan.function_bodies.size()) {
  for (const Node& n : plan.programs) collect(n, positions_, calls_);
  for (const Node& n : plan.function_bodies) collect(n, positions_, calls_);
  std::sort(calls_.begin(), calls_.end());
  for (const auto& [order, function] : calls_) call_positions_[function.index()].push_back(order);
  for (std::size_t f = 0; f < function_orders_.size(); ++f) {
    // What the function covers, and what its callees cover, to the end. No recursion (verified).
    std::vector<FunctionId> open{FunctionId(static_cast<std::uint32_t>(f))};
    std::vector<bool> seen(function_orders_.size(), false);
    while (!open.empty()) {
      const FunctionId g = open.back();
      open.pop_back();
      if (seen[g.index()]) continue;
      seen[g.index()] = true;
      const Node& body = plan.function_bodies[g];
      function_orders_[f].emplace_back(body.begin, body.end);
      for (auto it = std::lower_bound(calls_.begin(), calls_.end(), std::pair(body.begin, FunctionId(0)));
           it != calls_.end() && it->first < body.end; ++it)
        open.push_back(it->second);
    }
    normalise(function_orders_[f]);
  }
}

void LiveRanges::find_events(const AccessPattern& pattern) {
  events_.clear();
  for (const ActionAccess& a : pattern)
    for (const std::uint32_t order : positions_[a.action.index()]) events_.push_back({order, a.kind, false, FunctionId()});
  // Calls of functions that hold events are events too, and so on outwards.
  std::vector<bool> holds(call_positions_.size(), false);
  for (bool changed = !holds.empty(); changed;) {
    changed = false;
    for (std::size_t f = 0; f < holds.size(); ++f) {
      if (holds[f]) continue;
      const Node& body = plan_.function_bodies.raw()[f];
      if (std::none_of(events_.begin(), events_.end(), [&](const Event& e) { return e.order >= body.begin && e.order < body.end; }))
        continue;
      holds[f] = changed = true;
      for (const std::uint32_t order : call_positions_[f]) {
        const auto own = std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.order == order; });
        if (own != events_.end())
          own->call = true, own->function = FunctionId(static_cast<std::uint32_t>(f));
        else
          events_.push_back({order, AccessKind::read, true, FunctionId(static_cast<std::uint32_t>(f))});
      }
    }
  }
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.order < b.order; });
}

bool LiveRanges::has_events(std::uint32_t begin, std::uint32_t end) const {
  const auto it = std::lower_bound(events_.begin(), events_.end(), begin, [](const Event& e, std::uint32_t o) { return e.order < o; });
  return it != events_.end() && it->order < end;
}

void LiveRanges::mark(std::uint32_t begin, std::uint32_t end) {
  if (begin >= end) return;
  marks_.emplace_back(begin, end);
  // Live over a call: live while the function runs.
  for (auto it = std::lower_bound(calls_.begin(), calls_.end(), std::pair(begin, FunctionId(0))); it != calls_.end() && it->first < end;
       ++it)
    if (!function_marked_[it->second.index()]) {
      function_marked_[it->second.index()] = true;
      marks_.insert(marks_.end(), function_orders_[it->second.index()].begin(), function_orders_[it->second.index()].end());
    }
}

// Backwards: given whether the value is needed after the node, is it needed before?
bool LiveRanges::walk(const Node& n, bool live) {
  if (!has_events(n.begin, n.end)) {
    if (live) mark(n.begin, n.end);
    return live;
  }
  switch (n.kind) {
    case Node::Kind::sequence: return walk_children(n.children, n.begin, n.end, live);
    case Node::Kind::action: return walk_action(n, live);
    case Node::Kind::call: return walk_call(n, live);
    case Node::Kind::repeat: return walk_repeat(n, live);
    case Node::Kind::repeat_while: return walk_while(n, live);
    case Node::Kind::branch: return walk_branch(n, live);
  }
  return live;
}

bool LiveRanges::walk_children(const std::vector<Node>& children, std::uint32_t begin, std::uint32_t end, bool live) {
  std::uint32_t at = end;
  while (true) {
    // The last event before `at`, and the child that holds it.
    auto event = std::lower_bound(events_.begin(), events_.end(), at, [](const Event& e, std::uint32_t o) { return e.order < o; });
    if (event == events_.begin() || (--event)->order < begin) break;
    auto child =
        std::upper_bound(children.begin(), children.end(), event->order, [](std::uint32_t o, const Node& c) { return o < c.begin; });
    --child;
    while (child->end <= event->order) --child;  // empty children share their begin with the next
    if (live) mark(child->end, at);
    live = walk(*child, live);
    at = child->begin;
  }
  if (live) mark(begin, at);
  return live;
}

bool LiveRanges::walk_action(const Node& n, bool live) {
  const auto event = std::lower_bound(events_.begin(), events_.end(), n.begin, [](const Event& e, std::uint32_t o) { return e.order < o; });
  marks_.emplace_back(n.begin, n.end);
  if (event->kind == AccessKind::read) note_read(n.begin, live);
  switch (event->kind) {
    case AccessKind::read:
    case AccessKind::modify: return true;
    case AccessKind::write:
    case AccessKind::undefine: return false;
    case AccessKind::partial: return live;
  }
  return live;
}

bool LiveRanges::walk_call(const Node& n, bool live) {
  const auto event = std::lower_bound(events_.begin(), events_.end(), n.begin, [](const Event& e, std::uint32_t o) { return e.order < o; });
  if (!event->call) {  // the call itself is what reads: the code of the function
    note_read(n.begin, live);
    mark(n.begin, n.end);
    return true;
  }
  // What only the function itself needs is not live at its calls, but in there: else all of its temporaries would lie side by side.
  const bool before = walk_function(n.function, live);
  if (live || before) marks_.emplace_back(n.begin, n.end);
  return before;
}

bool LiveRanges::walk_function(FunctionId f, bool live) {
  std::uint8_t& memo = function_memo_[f.index()];
  const int shift = live ? 2 : 0;
  if (memo >> shift & 1) return memo >> shift & 2;
  const bool before = walk(plan_.function_bodies[f], live);
  function_memo_[f.index()] |= static_cast<std::uint8_t>((before ? 3 : 1) << shift);
  return before;
}

bool LiveRanges::walk_repeat(const Node& n, bool live) {
  const bool first = walk(n.children[0], live);
  // What the body needs at its begin is live at its end, too: the next round.
  if (first && !live) return walk(n.children[0], true);
  return first;
}

bool LiveRanges::walk_while(const Node& n, bool live) {
  const Node &condition = n.children[0], &test = n.children[1], &body = n.children[2];
  bool before = false;
  for (int round = 0; round < 2; ++round) {
    const bool after_body = before;
    const bool body_needs = walk(body, after_body);
    before = walk(condition, walk(test, live || body_needs));
    if (before == after_body) break;
  }
  return before;
}

bool LiveRanges::walk_branch(const Node& n, bool live) {
  bool needed = false;
  for (std::size_t way = 1; way < n.children.size(); ++way) {
    const bool way_needs = walk(n.children[way], live);  // every way is walked: each marks what it holds
    needed = needed || way_needs;
  }
  return walk(n.children[0], needed);
}

bool LiveRanges::walk_programs(bool live) {
  bool needed = false;
  for (const Node& p : plan_.programs) {
    const bool program_needs = walk(p, live);
    needed = needed || program_needs;
  }
  return needed;
}

tile::LiveRange LiveRanges::of(const AccessPattern& pattern, bool always) {
  if (always) return everything();
  find_events(pattern);
  marks_.clear();
  last_reads_.clear();
  earlier_reads_.clear();
  std::fill(function_marked_.begin(), function_marked_.end(), false);
  std::fill(function_memo_.begin(), function_memo_.end(), std::uint8_t{0});
  if (walk_programs(false)) {
    std::fill(function_memo_.begin(), function_memo_.end(), std::uint8_t{0});
    walk_programs(true);
  }
  normalise(marks_);
  return marks_;
}

std::vector<std::uint32_t> LiveRanges::last_reads(const AccessPattern& pattern) {
  of(pattern, false);
  std::set<std::uint32_t> last(last_reads_.begin(), last_reads_.end());
  for (const std::uint32_t order : earlier_reads_) last.erase(order);
  return {last.begin(), last.end()};
}

}  // namespace pando::compile
