// What a stream executes, folded as it comes: rounds that repeat become loops, at any depth, so that a long run takes no more room than the
// program does. A dumb checker unfolds the rows again (trace_fold_test.cpp).
//
//     a b b c a b b c a b b c d   ->   3 x (a, 2 x b, c), d
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profile/report.h"

namespace pando::cycles {

class TraceFold {
 public:
  // Keeps at most `most_rows` rows; what comes later is counted.
  explicit TraceFold(std::size_t most_rows = 1'000'000) : most_rows_(most_rows) {}

  void add(std::uint32_t step, std::uint64_t gap, std::uint64_t cycles);
  // All rows so far.
  std::vector<profile::TraceRow> rows() const;
  std::uint64_t lost() const { return lost_; }

 private:
  // An event, or a loop: its row and those of its round.
  struct Node {
    std::vector<profile::TraceRow> rows;
    std::size_t parts = 0;   // nodes of the round; 0: an event
    std::uint64_t hash = 0;  // of `rows`
    std::uint64_t last = 0;  // hash of the round's last node
  };

  static std::uint64_t hash_of(const std::vector<profile::TraceRow>& rows);
  bool fold_into_loop();
  bool fold_repetition();
  void remember();
  void shorten();
  void index_nodes();
  bool equal(std::size_t a, std::size_t b, std::size_t n) const;

  std::size_t most_rows_;
  std::uint64_t lost_ = 0;
  std::vector<profile::TraceRow> done_;  // in front of `nodes_`: nothing folds with them any more
  std::size_t kept_ = 0;                 // rows in nodes_
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> seen_;   // hash of a node -> where it was last; looked up, never iterated
  std::unordered_map<std::uint64_t, std::size_t> loops_;  // hash of a round's last node -> the loop
};

}  // namespace pando::cycles
