#include "search/programs/recompute_choices.h"

#include "search/programs/least_memory.h"

#include <algorithm>

namespace pando::search {

namespace {

using Layers = std::vector<std::uint32_t>;

class Chooser {
 public:
  Chooser(const ActivationsOfLayers& kept, const ActivationsOfLayers& again, const std::vector<double>& seconds)
      : kept_(kept), saved_(kept.bytes.size(), 0), order_(kept.rank.size()), taken_(kept.rank.size(), 0) {
    for (std::uint32_t l = 0; l < saved_.size(); ++l) {
      saved_[l] = kept.bytes[l] - again.bytes[l];
      if (saved_[l] > 0 && kept.stage[l] >= 0) order_[static_cast<std::size_t>(kept.stage[l])].push_back(l);
    }
    const auto worth = [&](std::uint32_t l) {
      return static_cast<double>(saved_[l]) / std::max(l < seconds.size() ? seconds[l] : 0, 1e-12);
    };
    for (Layers& of_stage : order_) {
      std::stable_sort(of_stage.begin(), of_stage.end(), [&](std::uint32_t a, std::uint32_t b) { return worth(a) > worth(b); });
    }
  }

  std::vector<Layers> run(std::int32_t most) {
    double ways = 1;
    for (const Layers& of_stage : order_) ways *= static_cast<double>(of_stage.size() + 1);
    // No layer is no set, nor is every layer.
    std::vector<Layers> all = ways - 1 <= most ? every_number() : chain();
    std::erase_if(all, [&](const Layers& l) { return l.empty() || l.size() == saved_.size(); });
    return thinned(all, static_cast<std::size_t>(most));
  }

 private:
  Layers chosen() const {
    Layers all;
    for (std::size_t s = 0; s < order_.size(); ++s)
      all.insert(all.end(), order_[s].begin(), order_[s].begin() + static_cast<std::ptrdiff_t>(taken_[s]));
    std::sort(all.begin(), all.end());
    return all;
  }

  std::vector<Layers> every_number() {
    std::vector<Layers> all;
    for (std::size_t s = 0; s < order_.size();) {
      all.push_back(chosen());
      // The next one, as an odometer turns.
      for (s = 0; s < order_.size() && ++taken_[s] > order_[s].size(); ++s) taken_[s] = 0;
    }
    return all;
  }

  std::vector<Layers> chain() {
    std::vector<Layers> all;
    for (std::size_t s = next(); s < order_.size(); s = next()) {
      ++taken_[s];
      all.push_back(chosen());
    }
    return all;
  }

  // The stage that holds most, of those with layers left on the rank that needs most.
  std::size_t next() const {
    std::vector<std::int64_t> of_stage(order_.size()), of_rank(order_.size(), 0);
    for (std::size_t s = 0; s < order_.size(); ++s) {
      std::int64_t bytes = 0;
      for (std::size_t l = 0; l < saved_.size(); ++l) bytes += kept_.stage[l] == static_cast<std::int32_t>(s) ? kept_.bytes[l] : 0;
      for (std::size_t i = 0; i < taken_[s]; ++i) bytes -= saved_[order_[s][i]];
      of_stage[s] = bytes * kept_.held[s];
      of_rank[rank(s)] += of_stage[s] + kept_.variables[s];
    }
    std::size_t best = order_.size();
    for (std::size_t s = 0; s < order_.size(); ++s) {
      if (taken_[s] == order_[s].size()) continue;
      const auto need = [&](std::size_t i) { return std::pair(of_rank[rank(i)], of_stage[i]); };
      if (best == order_.size() || need(s) > need(best)) best = s;
    }
    return best;
  }
  std::size_t rank(std::size_t stage) const { return static_cast<std::size_t>(kept_.rank[stage]); }

  static std::vector<Layers> thinned(const std::vector<Layers>& all, std::size_t most) {
    if (all.size() <= most) return all;
    std::vector<Layers> some;
    for (std::size_t i = 1; i <= most; ++i) some.push_back(all[i * all.size() / most - 1]);
    return some;
  }

  const ActivationsOfLayers& kept_;
  // By layer.
  std::vector<std::int64_t> saved_;
  // By stage: layers that save something, the best first; how many of them are taken.
  std::vector<Layers> order_;
  std::vector<std::size_t> taken_;
};

}  // namespace

std::vector<Layers> recompute_choices(const transform::Program& program, const transform::Strategy& strategy,
                                      const transform::Layout& layout, const schedule::Table& table,
                                      const std::vector<double>& layer_seconds, std::int32_t most) {
  transform::Strategy s = strategy;
  s.recomputed_layers.clear();
  s.offload_activations = false;
  const ActivationsOfLayers again = activations_of_layers(program, s, layout, table);
  s.recompute = transform::Recompute::none;
  const ActivationsOfLayers kept = activations_of_layers(program, s, layout, table);
  return Chooser(kept, again, layer_seconds).run(most);
}

}  // namespace pando::search
