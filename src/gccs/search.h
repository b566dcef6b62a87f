// Depth first, by halves of ranges; what cannot be better than the best found so far is cut off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gccs/constraint.h"

namespace gccs::popsolver {

struct Problem {
  std::vector<Range> ranges;
  std::vector<Constraint> constraints;
  std::vector<std::uint32_t> objectives;  // the first counts first
  std::vector<std::size_t> rank;          // of each variable: lower ones are tried out first
};

// The place of each group, if `before[a]` lists those that a comes before. Throws std::invalid_argument if there is none.
std::vector<std::size_t> order_of_groups(const std::vector<std::vector<std::size_t>>& before);

class Search {
 public:
  explicit Search(const Problem& problem);
  // Empty: no assignment fulfils the constraints.
  const std::vector<Value>& best() const { return best_; }
  // By kind of constraint.
  const std::array<std::uint64_t, 13>& evaluated() const { return evaluated_; }

 private:
  bool narrow_all(std::vector<Range>& ranges, std::vector<std::uint32_t> changed);
  bool below_best(Narrowing& narrowing);
  void explore(std::vector<Range> ranges);
  std::size_t next_variable(const std::vector<Range>& ranges) const;

  const Problem& problem_;
  std::vector<std::vector<std::uint32_t>> readers_;  // [variable]: constraints
  std::vector<char> queued_;                         // [constraint]
  std::vector<Value> best_;
  std::array<std::uint64_t, 13> evaluated_{};
};

}  // namespace gccs::popsolver
