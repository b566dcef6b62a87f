#include "transform/distribute/layout/ways_to_cut.h"

#include "base/error.h"
#include "pando/model_error.hpp"
#include "transform/distribute/layout/layout.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace pando::transform {

namespace {

// A name with its first number replaced by a star: "block3.up" is "block*.up".
std::string without_number(const std::string& name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto begin = std::find_if(name.begin(), name.end(), digit);
  const auto end = std::find_if_not(begin, name.end(), digit);
  return begin == name.end() ? name : std::string(name.begin(), begin) + '*' + std::string(end, name.end());
}

// Weights that the forward pass takes, of two dimensions and more, by their names without numbers; one alone has its own name.
std::map<std::string, std::vector<ir::ValueId>> weights_by_name(const Program& p) {
  const ir::Module& m = p.module;
  std::set<ir::ValueId> used;
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    if (p.phase_of(o) != Phase::forward) continue;
    for (ir::ValueId v : m.operands(o)) used.insert(v);
  }
  std::map<std::string, std::vector<ir::ValueId>> all, named;
  const auto& inputs = m.graph(m.main_graph()).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (p.is_batch(i) || m.type_of(inputs[i]).shape.size() < 2 || !used.contains(inputs[i])) continue;
    all[without_number(m.name_of(inputs[i]))].push_back(inputs[i]);
  }
  for (auto& [name, values] : all) named[values.size() == 1 ? m.name_of(values[0]) : name] = std::move(values);
  return named;
}

// How a layout has everything over the tensor axis.
std::string picture_of(const Layout& layout) {
  std::string text;
  const auto draw = [&](const Spec& s) {
    text += static_cast<char>(s.kind * 16 + s.dim);
    if (s.outer != 1) text += std::to_string(s.outer);
  };
  for (const auto* list : {&layout.raw, &layout.resolved, &layout.demand}) {
    for (const Specs& s : *list) draw(s[kTensor]);
  }
  return text;
}

class CutFinder {
 public:
  CutFinder(const Program& p, std::int32_t tensor, std::int32_t most) : program_(p), strategy_{.tensor = tensor}, most_(most) {
    for (const auto& [name, values] : weights_by_name(p)) weights_.emplace_back(name, rank_of(p.module, values));
  }

  std::vector<decltype(Strategy::cut)> run() {
    reject_too_many();
    const auto weights = static_cast<std::int32_t>(weights_.size());
    for (std::int32_t n = 0; n <= std::min(most_, weights); ++n) extend(0, n);
    return std::move(found_);
  }

 private:
  void reject_too_many() const {
    constexpr double kMost = 100'000;
    // By how many weights are cut: in how many ways.
    std::vector<double> ways(static_cast<std::size_t>(most_) + 1, 0);
    ways[0] = 1;
    for (const auto& [name, rank] : weights_) {
      for (std::size_t n = ways.size(); n-- > 1;) ways[n] += ways[n - 1] * (rank + 1);
    }
    if (std::accumulate(ways.begin(), ways.end(), 0.0) <= kMost) return;
    fail(ErrorKind::poplar_error, "search-space", "{} weights at once, of {}, can be cut in more than {} ways; say fewer", most_,
         weights_.size(), kMost);
  }

  // Weights of one name may differ in rank: then they are said by the dimensions that all have.
  static std::int32_t rank_of(const ir::Module& m, const std::vector<ir::ValueId>& values) {
    std::size_t rank = m.type_of(values[0]).shape.size();
    for (ir::ValueId v : values) rank = std::min(rank, m.type_of(v).shape.size());
    return static_cast<std::int32_t>(rank);
  }

  void extend(std::size_t first, std::int32_t more) {
    if (more == 0) return add();
    for (std::size_t i = first; i + static_cast<std::size_t>(more) <= weights_.size(); ++i) {
      const auto& [name, rank] = weights_[i];
      for (std::int32_t dim = -1; dim < rank; ++dim) {
        strategy_.cut[name] = dim;
        extend(i + 1, more - 1);
      }
      strategy_.cut.erase(name);
    }
  }

  void add() {
    try {
      if (seen_.insert(picture_of(lay_out(program_, strategy_))).second && !strategy_.cut.empty()) found_.push_back(strategy_.cut);
    } catch (const ModelError&) {}
  }

  const Program& program_;
  Strategy strategy_;
  std::int32_t most_;
  // Name and rank.
  std::vector<std::pair<std::string, std::int32_t>> weights_;
  std::set<std::string> seen_;
  std::vector<decltype(Strategy::cut)> found_;
};

}  // namespace

std::vector<decltype(Strategy::cut)> ways_to_cut(const Program& program, std::int32_t tensor, std::int32_t most) {
  return CutFinder(program, tensor, most).run();
}

}  // namespace pando::transform
