#include "transform/devices/merge_exchange.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "transform/cloner.h"

#include <algorithm>
#include <unordered_map>

namespace pando::transform {

using namespace ir;

namespace {

bool is_transfer(const OpRow& row) {
  return has(row.effects, Effects::stream) || has(row.effects, Effects::remote) || has(row.effects, Effects::code);
}

// Transfers of one step have one even rank; what computes on what step 2k brings has rank 2k + 1, what needs no step has rank -1.
class Ranks {
 public:
  Ranks(const Module& m, const std::vector<OpId>& ops, const std::vector<std::pair<OpId, OpId>>& after) : m_(m) {
    std::unordered_map<OpId, std::vector<OpId>> before;
    for (const auto& [first, then] : after) before[then].push_back(first);
    for (OpId o : ops) {
      int rank = is_transfer(m.row(o)) ? 0 : -1;
      for (ValueId v : m.operands(o)) rank = std::max(rank, behind(m.value(v).producer, o, true));
      for (OpId b : before[o]) rank = std::max(rank, behind(b, o, false));
      rank_[o] = in_order(o, rank);
    }
  }
  int operator[](OpId o) const { return rank_.at(o); }

 private:
  // Transfers keep their order, and so do graphs that have some inside; prints keep theirs.
  int in_order(OpId o, int rank) {
    const auto graphs = m_.graphs(o);
    const bool transfer = is_transfer(m_.row(o)), carries = !graphs.empty() && !transfer;
    if (transfer) {
      rank = std::max({rank, last_transfer_, last_carrier_ + 1});
      return last_transfer_ = rank;
    }
    if (carries && std::any_of(graphs.begin(), graphs.end(), [&](GraphId g) { return has_outside_effects(m_, g); })) {
      rank = std::max({rank, last_carrier_, last_transfer_ + 1});
      last_carrier_ = rank;
    }
    if (carries || has(m_.row(o).effects, Effects::print)) rank = last_print_ = std::max(rank, last_print_);
    return rank;
  }

  int behind(OpId first, OpId then, bool data) const {
    const auto it = rank_.find(first);
    if (it == rank_.end()) return -1;
    const bool a = is_transfer(m_.row(first)), b = is_transfer(m_.row(then));
    if (a && b) return it->second + (data ? 2 : 0);
    if (a) return it->second + 1;
    return b ? it->second + 1 : it->second;
  }

  const Module& m_;
  std::unordered_map<OpId, int> rank_;
  int last_transfer_ = -2, last_carrier_ = -1, last_print_ = -1;
};

}  // namespace

MergedExchange merge_exchange(Module& m, GraphId graph, std::size_t first, std::size_t last) {
  Graph& g = m.graph(graph);
  last = std::min(last, g.ops.size());
  first = std::min(first, last);
  const auto begin = g.ops.begin() + static_cast<std::ptrdiff_t>(first), end = g.ops.begin() + static_cast<std::ptrdiff_t>(last);
  const Ranks ranks(m, {begin, end}, g.after);
  std::stable_sort(begin, end, [&](OpId a, OpId b) { return ranks[a] < ranks[b]; });
  MergedExchange merged;
  int step = -1;
  for (auto it = begin; it != end; ++it) {
    if (is_transfer(m.row(*it))) {
      if (merged.steps.empty() || ranks[*it] != step) merged.steps.emplace_back();
      step = ranks[*it];
      merged.steps.back().push_back(*it);
    } else if (!m.operands(*it).empty() || m.results(*it).empty()) {
      merged.others.push_back(*it);
    }
  }
  return merged;
}

void verify_overlap(const Module& m, const MergedExchange& merged) {
  if (merged.steps.size() + merged.others.size() <= 1) return;
  std::string text;
  for (OpId o : merged.others) text += fmt::format("\n  {} '{}'", m.row(o).name, m.name_of(o));
  reject(ErrorClass::runtime, "io-tile-exchange",
         "io_tile_exchange: {} exchange steps and {} other ops are left of the block, which must be one exchange; move what computes out "
         "of it{}",
         merged.steps.size(), merged.others.size(), text);
}

}  // namespace pando::transform
