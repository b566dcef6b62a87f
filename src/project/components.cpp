#include "project/components.h"

#include <algorithm>

namespace pando::project {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Tarjan's algorithm with a stack of its own: bodies are as deep as they are long.
class Search {
 public:
  Search(std::size_t nodes, std::span<const std::pair<std::uint32_t, std::uint32_t>> edges)
      : begin_(nodes + 1, 0), index_(nodes, kNone), low_(nodes, 0), component_(nodes, kNone) {
    for (const auto& e : edges) ++begin_[e.first + 1];
    for (std::size_t i = 0; i < nodes; ++i) begin_[i + 1] += begin_[i];
    to_.resize(edges.size());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& e : edges) to_[next[e.first]++] = e.second;
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t n = 0; n < index_.size(); ++n) {
      if (index_[n] == kNone) from(n);
    }
    // Found in reverse of the order that is wanted.
    for (std::uint32_t& c : component_) c = found_ - 1 - c;
    return std::move(component_);
  }

 private:
  void from(std::uint32_t root) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> path;
    enter(root, path);
    while (!path.empty()) {
      auto& [n, edge] = path.back();
      if (edge < begin_[n + 1]) {
        const std::uint32_t to = to_[edge++];
        if (index_[to] == kNone) {
          enter(to, path);
        } else if (component_[to] == kNone) {
          low_[n] = std::min(low_[n], index_[to]);
        }
        continue;
      }
      const std::uint32_t done = n;
      path.pop_back();
      if (!path.empty()) low_[path.back().first] = std::min(low_[path.back().first], low_[done]);
      if (low_[done] == index_[done]) close(done);
    }
  }
  void enter(std::uint32_t n, std::vector<std::pair<std::uint32_t, std::uint32_t>>& path) {
    index_[n] = low_[n] = entered_++;
    open_.push_back(n);
    path.emplace_back(n, begin_[n]);
  }
  void close(std::uint32_t root) {
    for (std::uint32_t n = kNone; n != root;) {
      n = open_.back();
      open_.pop_back();
      component_[n] = found_;
    }
    ++found_;
  }

  std::vector<std::uint32_t> begin_, to_, index_, low_, component_, open_;
  std::uint32_t entered_ = 0, found_ = 0;
};

}  // namespace

std::vector<std::uint32_t> strong_components(std::size_t nodes, std::span<const std::pair<std::uint32_t, std::uint32_t>> edges) {
  return Search(nodes, edges).run();
}

}  // namespace pando::project
