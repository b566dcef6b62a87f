#include <algorithm>
#include <unordered_map>

#include "allocate/allocate.h"
#include "base/process/stop.h"

namespace pando::allocate {
namespace {

// Mixes 64 bits at a time. Only finds equals fast; nothing depends on its values.
class Hash {
 public:
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

std::uint64_t hash_of(const AllocationProblem& problem) {
  Hash hash;
  hash.add(problem.capacity);
  for (const Buffer& b : problem.buffers) {
    hash.add(b.size);
    hash.add(b.align);
    hash.add(b.lowest);
    hash.add(b.highest_end);
    hash.add(b.fixed ? *b.fixed : ~std::uint64_t{0});
    for (const Interval& live : b.live) {
      hash.add(live.begin);
      hash.add(live.end);
    }
  }
  return hash.value();
}

}  // namespace

std::vector<AllocationResult> allocate_all(const std::vector<AllocationProblem>& problems, const AllocationOptions& options) {
  std::vector<AllocationResult> results(problems.size());
  AllocationOptions each = options;
  std::uint64_t left = options.total_node_budget;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> distinct;  // by hash: the first of each kind; looked up only
  for (std::size_t i = 0; i < problems.size(); ++i) {
    check_stop();
    std::vector<std::size_t>& alike = distinct[hash_of(problems[i])];
    const auto same = std::find_if(alike.begin(), alike.end(), [&](std::size_t k) { return problems[k] == problems[i]; });
    if (same != alike.end()) {
      results[i] = results[*same];
      continue;
    }
    each.node_budget = std::min(options.node_budget, left);
    results[i] = allocate(problems[i], each);
    left -= std::min(left, results[i].nodes);
    alike.push_back(i);
  }
  return results;
}

}  // namespace pando::allocate
