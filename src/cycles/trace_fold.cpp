#include "cycles/trace_fold.h"

#include <algorithm>

namespace pando::cycles {

namespace {

constexpr std::size_t kWindow = 1 << 14;  // nodes that a new one is compared with

std::uint64_t cycles_of(const std::vector<profile::TraceRow>& rows) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rows.size(); i += rows[i].rows + 1) sum += (rows[i].gap + rows[i].cycles) * rows[i].times;
  return sum;
}

}  // namespace

std::uint64_t TraceFold::hash_of(const std::vector<profile::TraceRow>& rows) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (const profile::TraceRow& r : rows)
    for (const std::uint64_t v : {std::uint64_t{r.step}, r.gap, r.cycles, r.times, std::uint64_t{r.rows}}) {
      hash = (hash ^ v) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    }
  return hash;
}

bool TraceFold::equal(std::size_t a, std::size_t b, std::size_t n) const {
  for (std::size_t i = n; i-- > 0;)
    if (nodes_[a + i].hash != nodes_[b + i].hash || nodes_[a + i].rows != nodes_[b + i].rows) return false;
  return true;
}

// The nodes behind a loop are one more of its rounds.
bool TraceFold::fold_into_loop() {
  const auto it = loops_.find(nodes_.back().hash);
  if (it == loops_.end() || it->second + 1 >= nodes_.size()) return false;
  const std::size_t at = it->second, n = nodes_.size() - at - 1;
  Node& loop = nodes_[at];
  if (loop.parts != n || loop.last != nodes_.back().hash) return false;
  std::size_t row = 1;
  for (std::size_t i = at + 1; i < nodes_.size(); ++i)
    for (const profile::TraceRow& r : nodes_[i].rows)
      if (row >= loop.rows.size() || !(loop.rows[row++] == r)) return false;
  if (row != loop.rows.size()) return false;
  ++loop.rows[0].times;
  loop.hash = hash_of(loop.rows);
  for (std::size_t i = at + 1; i < nodes_.size(); ++i) kept_ -= nodes_[i].rows.size();
  nodes_.resize(at + 1);
  return true;
}

// The last nodes are those before them again.
bool TraceFold::fold_repetition() {
  const auto it = seen_.find(nodes_.back().hash);
  if (it == seen_.end() || it->second + 1 >= nodes_.size()) return false;
  const std::size_t n = nodes_.size() - 1 - it->second;
  if (2 * n > nodes_.size()) return false;
  const std::size_t second = nodes_.size() - n, first = second - n;
  if (n == 1 && nodes_[first].parts == 0) return false;  // equal events in a row are one node, made in add()
  if (!equal(first, second, n)) return false;
  Node loop;
  loop.parts = n;
  loop.last = nodes_.back().hash;
  loop.rows.emplace_back();
  for (std::size_t i = first; i < second; ++i) loop.rows.insert(loop.rows.end(), nodes_[i].rows.begin(), nodes_[i].rows.end());
  loop.rows[0].rows = static_cast<std::uint32_t>(loop.rows.size() - 1);
  loop.rows[0].times = 2;
  loop.rows[0].cycles = cycles_of({loop.rows.begin() + 1, loop.rows.end()});
  loop.hash = hash_of(loop.rows);
  for (std::size_t i = first; i < nodes_.size(); ++i) kept_ -= nodes_[i].rows.size();
  nodes_.resize(first);
  kept_ += loop.rows.size();
  loops_[loop.last] = first;
  nodes_.push_back(std::move(loop));
  return true;
}

// A loop has another hash after each round.
void TraceFold::remember() {
  seen_[nodes_.back().hash] = nodes_.size() - 1;
  if (seen_.size() > 4 * kWindow) index_nodes();
}

void TraceFold::shorten() {
  if (nodes_.size() < 2 * kWindow) return;
  for (std::size_t i = 0; i < kWindow; ++i) {
    kept_ -= nodes_[i].rows.size();
    done_.insert(done_.end(), nodes_[i].rows.begin(), nodes_[i].rows.end());
  }
  nodes_.erase(nodes_.begin(), nodes_.begin() + kWindow);
  index_nodes();
}

void TraceFold::index_nodes() {
  seen_.clear();
  loops_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    seen_[nodes_[i].hash] = i;
    if (nodes_[i].parts > 0) loops_[nodes_[i].last] = i;
  }
}

void TraceFold::add(std::uint32_t step, std::uint64_t gap, std::uint64_t cycles) {
  if (lost_ > 0) {  // what comes after a hole folds with nothing before it
    ++lost_;
    return;
  }
  const profile::TraceRow event{step, 0, gap, cycles, 1};
  if (!nodes_.empty() && nodes_.back().parts == 0) {
    profile::TraceRow& last = nodes_.back().rows[0];
    if (last.step == step && last.gap == gap && last.cycles == cycles) {
      ++last.times;
      nodes_.back().hash = hash_of(nodes_.back().rows);
      while (fold_into_loop() || fold_repetition()) {}
      remember();
      return;
    }
  }
  if (done_.size() + kept_ >= most_rows_) {
    ++lost_;
    return;
  }
  nodes_.push_back({{event}, 0, 0, 0});
  nodes_.back().hash = hash_of(nodes_.back().rows);
  ++kept_;
  while (fold_into_loop() || fold_repetition()) {}
  remember();
  shorten();
}

std::vector<profile::TraceRow> TraceFold::rows() const {
  std::vector<profile::TraceRow> out = done_;
  for (const Node& n : nodes_) out.insert(out.end(), n.rows.begin(), n.rows.end());
  return out;
}

}  // namespace pando::cycles
