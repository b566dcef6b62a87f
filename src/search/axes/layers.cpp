#include "search/axis.h"
#include "transform/distribute/stages/stages.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pando::search {

namespace {

using Sizes = std::vector<std::uint32_t>;

// So that the slowest stage is as quick as can be.
Sizes quickest_slowest(const std::vector<double>& cost, std::size_t stages) {
  const std::size_t n = cost.size();
  std::vector<double> before(n + 1, 0);
  std::partial_sum(cost.begin(), cost.end(), before.begin() + 1);
  std::vector<std::vector<double>> worst(stages + 1, std::vector<double>(n + 1, std::numeric_limits<double>::infinity()));
  std::vector<std::vector<std::size_t>> from(stages + 1, std::vector<std::size_t>(n + 1, 0));
  worst[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s) {
    for (std::size_t end = s; end <= n; ++end) {
      for (std::size_t begin = s - 1; begin < end; ++begin) {
        const double w = std::max(worst[s - 1][begin], before[end] - before[begin]);
        if (w < worst[s][end]) worst[s][end] = w, from[s][end] = begin;
      }
    }
  }
  Sizes sizes(stages);
  for (std::size_t s = stages, end = n; s > 0; end = from[s][end], --s) sizes[s - 1] = static_cast<std::uint32_t>(end - from[s][end]);
  return sizes;
}

// One layer across the boundary after stage s, either way.
void add_moved(std::vector<Sizes>& all, std::size_t which, std::size_t s) {
  for (const int way : {-1, 1}) {
    Sizes moved = all[which];
    std::uint32_t &from = way > 0 ? moved[s + 1] : moved[s], &to = way > 0 ? moved[s] : moved[s + 1];
    if (from < 2) continue;
    --from, ++to;
    all.push_back(std::move(moved));
  }
}

// As many layers each, about as many operations each, and as quick as can be. Operations and seconds do not tell what transfers cost:
// stages that differ by a layer from those are tried, and of two stages all.
std::vector<Sizes> sizes_of_space(const SpaceFacts& f, std::size_t stages) {
  const std::size_t layers = f.layer_operations.size();
  std::vector<Sizes> all;
  if (stages == 2 && layers <= 16) {
    for (std::uint32_t first = 1; first < layers; ++first) all.push_back({first, static_cast<std::uint32_t>(layers) - first});
    return all;
  }
  all.push_back(transform::even_groups(f.layer_operations, static_cast<std::int32_t>(stages)));
  all.push_back(quickest_slowest(f.layer_seconds, stages));
  if (layers % stages == 0) all.emplace_back(stages, static_cast<std::uint32_t>(layers / stages));
  for (std::size_t i = 0, n = all.size(); i < n && stages <= 8; ++i) {
    for (std::size_t s = 0; s + 1 < stages; ++s) add_moved(all, i, s);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void add_sizes(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  for (Sizes& sizes : sizes_of_space(f, static_cast<std::size_t>(s.pipeline) * static_cast<std::size_t>(s.stages_per_rank)))
    to.emplace_back(s).layers_per_stage = std::move(sizes);
}

}  // namespace

Axis axis_layers() {
  Axis a;
  a.word = "layers";
  a.doc = "Layers of the pipeline's stages, one number for each";
  a.program = {.position = 100,
               .option = "layers-per-stage",
               .numbers = &Strategy::layers_per_stage,
               .nesting = 90,
               .is_open = [](const Strategy& s) { return s.pipeline > 1; },
               .choices = add_sizes};
  return a;
}

}  // namespace pando::search
