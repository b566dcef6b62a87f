#include "project/lags.h"

#include "ir/op_row.h"
#include "project/components.h"
#include "split/place.h"

#include <algorithm>

namespace pando::project {

using namespace ir;

namespace {

constexpr std::int32_t next_exchange(std::int32_t slot) { return 2 * ((slot + 1) / 2) + 1; }

class Solver {
 public:
  explicit Solver(const LoopProgram& l)
      : l_(l), m_(*l.module), number_(m_.op_count(), -1), transfer_(l.body.size()), component_(l.body.size()) {
    for (std::size_t i = 0; i < l.body.size(); ++i) {
      number_[l.body[i].index()] = static_cast<std::int32_t>(i);
      transfer_[i] = split::is_transfer(m_, l.body[i]);
    }
  }

  Lags run() {
    Lags r;
    slots_.assign(l_.body.size(), 0);
    strict_ = l_.policy.kind == PolicyKind::strict;
    collect_edges();
    find_components();
    solve();
    if (!strict_ || states_.empty()) start_late();
    place_loads();
    if (l_.policy.kind == PolicyKind::double_buffered) place_sums();
    write(r);
    return r;
  }

 private:
  struct Edge {
    std::uint32_t from, to;
    // A state's: the use is the next sample's.
    bool next_sample;
  };

  std::int32_t producer(ValueId v) const {
    const OpId o = m_.value(v).producer;
    return o.valid() ? number_[o.index()] : -1;
  }

  void collect_edges() {
    for (std::size_t i = 0; i < l_.body.size(); ++i) {
      const auto to = static_cast<std::uint32_t>(i);
      for (ValueId v : m_.operands(l_.body[i])) {
        if (const std::int32_t from = producer(v); from >= 0) edges_.push_back({static_cast<std::uint32_t>(from), to, false});
        const std::int32_t s = l_.state_of[v.index()];
        if (s < 0 || l_.is_windowed(static_cast<std::size_t>(s))) continue;
        const std::int32_t update = producer(l_.states[static_cast<std::size_t>(s)].final);
        if (strict_ && update >= 0) states_.push_back({static_cast<std::uint32_t>(update), to, true});
      }
    }
    for (const auto& [first, then] : l_.after) {
      const std::int32_t a = number_[first.index()], b = number_[then.index()];
      if (a >= 0 && b >= 0) edges_.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), false});
    }
  }

  void find_components() {
    for (std::size_t i = 0; i < component_.size(); ++i) component_[i] = static_cast<std::uint32_t>(i);
    if (states_.empty()) return;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const auto* edges : {&edges_, &states_}) {
      for (const Edge& e : *edges) pairs.emplace_back(e.from, e.to);
    }
    component_ = strong_components(component_.size(), pairs);
  }

  // Edges by component, in the order in which components can be placed.
  void solve() {
    std::vector<Edge> all = edges_;
    all.insert(all.end(), states_.begin(), states_.end());
    const auto earlier = [&](const Edge& a, const Edge& b) { return component_[a.to] < component_[b.to]; };
    if (!std::is_sorted(all.begin(), all.end(), earlier)) std::stable_sort(all.begin(), all.end(), earlier);
    std::size_t components = 0;
    for (std::uint32_t c : component_) components = std::max<std::size_t>(components, c + 1);
    std::vector<std::int32_t> slot(components, 0);
    size_.assign(components, 0);
    for (std::uint32_t c : component_) ++size_[c];
    for (std::size_t i = 0; i < transfer_.size(); ++i) {
      if (transfer_[i] && size_[component_[i]] == 1) slot[component_[i]] = 1;
    }
    for (const Edge& e : all) {
      const std::uint32_t from = component_[e.from], to = component_[e.to];
      if (from == to) continue;
      std::int32_t least = slot[from];
      if (transfer_[e.to] && size_[to] == 1) least = next_exchange(least);
      if (e.next_sample) least -= 2;
      slot[to] = std::max(slot[to], least);
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = slot[component_[i]];
  }

  bool is_load(std::size_t i) const { return m_.op(l_.body[i]).operand_count == 0; }

  // A device begins its trips with computing: what would be its first work behind an exchange waits for the next trip's first half. What it
  // receives then arrives while it is at other work. No constraint is in the way: what it sends goes with the same exchange.
  void start_late() {
    std::vector<std::int32_t> first;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (transfer_[i] || is_load(i)) continue;
      const auto d = static_cast<std::size_t>(l_.device(l_.body[i]));
      if (d >= first.size()) first.resize(d + 1, -1);
      if (first[d] < 0 || slots_[i] < first[d]) first[d] = slots_[i];
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const std::int32_t f = transfer_[i] || is_load(i) ? -1 : first[static_cast<std::size_t>(l_.device(l_.body[i]))];
      if (f % 2 == 1 && slots_[i] == f) ++slots_[i];
    }
  }

  // What comes from the host comes when it is needed; as a variable's new contents it is needed by the next sample, and stays.
  void place_loads() {
    std::vector<std::int32_t> latest(slots_.size(), -1);
    for (const Edge& e : edges_) {
      if (!is_load(e.from)) continue;
      const std::int32_t at = transfer_[e.to] && size_[component_[e.to]] == 1 ? slots_[e.to] - 1 : slots_[e.to];
      latest[e.from] = latest[e.from] < 0 ? at : std::min(latest[e.from], at);
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (latest[i] >= 0 && l_.new_version_of[m_.result(l_.body[i]).index()] < 0) slots_[i] = latest[i];
    }
  }

  // Sums of a device are added to where its update runs: so none holds two windows at once.
  void place_sums() {
    std::vector<std::int32_t> last;
    const auto is_sum = [&](std::size_t i) {
      const auto results = m_.results(l_.body[i]);
      return results.size() == 1 && l_.new_version_of[results[0].index()] >= 0 &&
             l_.states[static_cast<std::size_t>(l_.new_version_of[results[0].index()])].is_sum;
    };
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (!is_sum(i)) continue;
        const auto d = static_cast<std::size_t>(l_.device(l_.body[i]));
        if (d >= last.size()) last.resize(d + 1, 0);
        last[d] = std::max(last[d], slots_[i]);
        if (pass == 1) slots_[i] = last[d];
      }
    }
    for (OpId o : l_.update) {
      const auto d = static_cast<std::size_t>(l_.device(o));
      update_slots_.push_back(d < last.size() ? last[d] : 0);
    }
  }

  void write(Lags& r) const {
    r.slot.assign(m_.op_count(), -1);
    r.direct.assign(m_.op_count(), false);
    for (const auto* slots : {&slots_, &update_slots_}) {
      for (std::int32_t slot : *slots) r.drain = std::max(r.drain, slot >> 1);
    }
    // In a half of a trip older samples come first; the exchange stands between the halves. Within each, the body's order stays.
    const auto lags = static_cast<std::size_t>(r.drain) + 1;
    std::vector<std::vector<OpId>> bins(2 * lags + 1);
    const auto add = [&](OpId o, std::int32_t slot, bool exchange) {
      r.slot[o.index()] = slot;
      const std::size_t older = lags - 1 - static_cast<std::size_t>(slot >> 1);
      bins[exchange ? lags : (slot & 1) != 0 ? lags + 1 + older : older].push_back(o);
    };
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const bool alone = size_[component_[i]] == 1;
      r.direct[l_.body[i].index()] = transfer_[i] && !alone;
      add(l_.body[i], slots_[i], transfer_[i] && alone);
    }
    for (std::size_t i = 0; i < update_slots_.size(); ++i) add(l_.update[i], update_slots_[i], false);
    r.order.reserve(slots_.size() + update_slots_.size());
    for (const auto& bin : bins) r.order.insert(r.order.end(), bin.begin(), bin.end());
  }

  const LoopProgram& l_;
  const Module& m_;
  // By op: its place in the body; by place in the body: the rest.
  std::vector<std::int32_t> number_;
  std::vector<bool> transfer_;
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> size_;
  std::vector<std::int32_t> slots_, update_slots_;
  std::vector<Edge> edges_, states_;
  bool strict_ = false;
};

}  // namespace

Lags solve_lags(const LoopProgram& loop) { return Solver(loop).run(); }

}  // namespace pando::project
