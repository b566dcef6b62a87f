#include "transform/steps.h"

#include "base/check.h"
#include "ir/op_row.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_set>

namespace pando::transform {

using namespace ir;

namespace {

// Of one pass over tensors.
constexpr std::uint32_t kMostLeaves = 8;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

}  // namespace

// What is alive while steps run one after the other.
class Steps::Live {
 public:
  explicit Live(const Steps& steps) : steps_(steps), bytes_(steps.contents_.size()), left_(steps.contents_.size()) {
    for (std::size_t s = 0; s < left_.size(); ++s) left_[s] = steps.contents_[s].readers.size();
  }
  std::int64_t freed(const Step& step) const {
    std::int64_t bytes = 0;
    for (std::uint32_t s : step.reads) bytes += left_[s] == 1 && !steps_.contents_[s].kept ? bytes_[s] : 0;
    return bytes;
  }
  std::int64_t growth(const Step& step) const { return step.made - freed(step); }
  // Calls `last` with storages that now have one reader left.
  template <class Last>
  void run(const Step& step, Last last) {
    const std::int64_t more = step.elementwise ? std::max<std::int64_t>(0, growth(step)) : step.made + step.passing;
    peak_ = std::max(peak_, live_ + more);
    for (const auto& [s, bytes] : step.makes) {
      if (left_[s] == 0 && !steps_.contents_[s].kept) continue;
      bytes_[s] += bytes;
      live_ += bytes;
    }
    for (std::uint32_t s : step.reads) {
      if (--left_[s] == 1) last(s);
      if (left_[s] > 0 || steps_.contents_[s].kept) continue;
      live_ -= bytes_[s];
      bytes_[s] = 0;
    }
  }
  std::int64_t peak() const { return peak_; }

 private:
  const Steps& steps_;
  std::int64_t live_ = 0, peak_ = 0;
  std::vector<std::int64_t> bytes_;
  std::vector<std::size_t> left_;
};

Steps::Steps(const Module& module, GraphId graph, const OrderRules& rules, const PassingBytes& passing)
    : module_(module), graph_(module.graph(graph)), storages_(module, graph), contents_(storages_.size()) {
  for (ValueId v : graph_.inputs) input_bytes_ += module.types().bytes_of(module.value(v).type);
  for (const auto* list : {&graph_.inputs, &graph_.outputs, &graph_.updated_inputs}) {
    for (ValueId v : *list) contents_[storages_.of(v)].kept = true;
  }
  const Precedence precedence = rules.of(graph, storages_);
  find_constants(precedence);
  make(precedence, passing);
}

void Steps::find_constants(const Precedence& precedence) {
  std::unordered_set<OpId> ordered;
  for (const auto& [first, then] : graph_.after) ordered.insert({first, then});
  constant_.resize(graph_.ops.size());
  for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
    constant_[i] = module_.row(graph_.ops[i]).constant && !precedence.next[i].empty() && !ordered.contains(graph_.ops[i]);
  }
}

// By position: which op's pass an op is part of, its own or its only reader's.
std::vector<std::uint32_t> Steps::roots(const Precedence& precedence) const {
  std::unordered_map<ValueId, std::uint32_t> uses;
  for (OpId o : graph_.ops) {
    for (ValueId v : module_.operands(o)) ++uses[v];
  }
  for (const auto* list : {&graph_.outputs, &graph_.updated_inputs}) {
    for (ValueId v : *list) ++uses[v];
  }
  std::vector<std::uint32_t> root(graph_.ops.size()), leaves(graph_.ops.size());
  std::iota(root.begin(), root.end(), 0);
  for (std::size_t i = 0; i < root.size(); ++i) leaves[i] = static_cast<std::uint32_t>(module_.operands(graph_.ops[i]).size());
  const auto fuses = [&](std::size_t i) { return module_.row(graph_.ops[i]).elementwise && module_.results(graph_.ops[i]).size() == 1; };
  for (std::size_t i = 0; i < root.size(); ++i) {
    // Nothing but its reader waits for it.
    if (!fuses(i) || precedence.next[i].size() != 1 || !fuses(precedence.next[i][0])) continue;
    const std::uint32_t reader = precedence.next[i][0];
    const ValueId mine = module_.result(graph_.ops[i]), theirs = module_.result(graph_.ops[reader]);
    const auto operands = module_.operands(graph_.ops[reader]);
    if (uses[mine] != 1 || std::find(operands.begin(), operands.end(), mine) == operands.end()) continue;
    if (module_.type_of(mine).shape != module_.type_of(theirs).shape || !(module_.type_of(mine).place == module_.type_of(theirs).place))
      continue;
    if (leaves[i] + leaves[reader] > kMostLeaves + 1) continue;
    leaves[reader] += leaves[i] - 1;
    root[i] = reader;
  }
  for (std::size_t i = root.size(); i-- > 0;) root[i] = root[root[i]];
  return root;
}

void Steps::add_op(Step& step, std::uint32_t position, bool last) {
  const OpId o = graph_.ops[position];
  step.positions.push_back(position);
  for (ValueId v : module_.operands(o)) step.reads.push_back(storages_.of(v));
  for (ValueId v : module_.results(o)) {
    if (!last || !storages_.is_made(v)) continue;
    const std::int64_t bytes = module_.types().bytes_of(module_.value(v).type);
    step.makes.emplace_back(storages_.of(v), bytes);
    step.made += bytes;
  }
}

void Steps::make(const Precedence& precedence, const PassingBytes& passing) {
  const std::vector<std::uint32_t> root = roots(precedence);
  std::vector<std::uint32_t> step_of(root.size(), kNone);
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    if (constant_[i] || root[i] != i) continue;
    step_of[i] = static_cast<std::uint32_t>(steps_.size());
    steps_.emplace_back();
  }
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    if (constant_[i]) continue;
    step_of[i] = step_of[root[i]];
    add_op(steps_[step_of[i]], i, root[i] == i);
    if (root[i] != i) continue;
    Step& s = steps_[step_of[i]];
    s.elementwise = module_.row(graph_.ops[i]).elementwise;
    s.passing = module_.graphs(graph_.ops[i]).empty() ? 0 : passing(graph_.ops[i]);
  }
  for (std::uint32_t n = 0; n < steps_.size(); ++n) {
    Step& s = steps_[n];
    std::sort(s.reads.begin(), s.reads.end());
    s.reads.erase(std::unique(s.reads.begin(), s.reads.end()), s.reads.end());
    for (std::uint32_t storage : s.reads) contents_[storage].readers.push_back(n);
    std::set<std::uint32_t> next;
    for (std::uint32_t p : s.positions) {
      for (std::uint32_t then : precedence.next[p]) next.insert(step_of[then]);
    }
    next.erase(n);
    s.next.assign(next.begin(), next.end());
    for (std::uint32_t then : s.next) ++steps_[then].waits;
  }
}

std::vector<std::uint32_t> Steps::listed() const {
  std::vector<std::uint32_t> order(steps_.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Of steps that may come next, the one with the least key; of several, the first in the list.
template <class Key>
std::vector<std::uint32_t> Steps::greedy(Key key_of) const {
  Live live(*this);
  std::vector<std::uint32_t> order, waits(steps_.size());
  std::vector<std::int64_t> key(steps_.size());
  std::set<std::pair<std::int64_t, std::uint32_t>> ready;
  const auto add = [&](std::uint32_t n) { ready.emplace(key[n] = key_of(live.growth(steps_[n])), n); };
  for (std::uint32_t n = 0; n < steps_.size(); ++n) {
    if ((waits[n] = steps_[n].waits) == 0) add(n);
  }
  while (!ready.empty()) {
    const std::uint32_t n = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(n);
    waits[n] = kNone;
    live.run(steps_[n], [&](std::uint32_t storage) {
      // Its last reader frees it now.
      for (std::uint32_t reader : contents_[storage].readers) {
        if (waits[reader] == 0 && ready.erase({key[reader], reader}) > 0) add(reader);
      }
    });
    for (std::uint32_t then : steps_[n].next) {
      if (--waits[then] == 0) add(then);
    }
  }
  PANDO_CHECK(order.size() == steps_.size());
  return order;
}

std::vector<std::uint32_t> Steps::early_frees() const {
  return greedy([](std::int64_t growth) { return std::min<std::int64_t>(growth, 1); });
}
std::vector<std::uint32_t> Steps::least_growth() const {
  return greedy([](std::int64_t growth) { return growth; });
}

std::int64_t Steps::peak_bytes(const std::vector<std::uint32_t>& order) const {
  Live live(*this);
  for (std::uint32_t n : order) live.run(steps_[n], [](std::uint32_t) {});
  return input_bytes_ + live.peak();
}

std::vector<OpId> Steps::ops(const std::vector<std::uint32_t>& order) const {
  std::unordered_map<OpId, std::uint32_t> position;
  for (std::uint32_t i = 0; i < constant_.size(); ++i) {
    if (constant_[i]) position.emplace(graph_.ops[i], i);
  }
  std::vector<OpId> all;
  for (std::uint32_t n : order) {
    std::set<std::uint32_t> first_read;
    for (std::uint32_t p : steps_[n].positions) {
      for (ValueId v : module_.operands(graph_.ops[p])) {
        const auto it = position.find(module_.value(v).producer);
        if (it == position.end()) continue;
        first_read.insert(it->second);
        position.erase(it);
      }
    }
    for (std::uint32_t p : first_read) all.push_back(graph_.ops[p]);
    for (std::uint32_t p : steps_[n].positions) all.push_back(graph_.ops[p]);
  }
  return all;
}

}  // namespace pando::transform
