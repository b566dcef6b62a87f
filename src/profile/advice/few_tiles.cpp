#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::uint64_t tiles_of(const TileProfile& p) {
  std::uint64_t n = 0;
  for (std::size_t k = 0; k + 2 < p.ranges.size(); k += 3) n += p.ranges[k + 1] - p.ranges[k];
  return n;
}

std::vector<StepPart> parts_of_few_tiles(const Report& report) {
  std::vector<double> tiles;
  for (const TileProfile& p : report.tile_profiles) tiles.push_back(static_cast<double>(tiles_of(p)));
  return {[tiles](const StepCycles& s) { return s.profile == 0 ? 0 : static_cast<double>(s.cycles.compute) * tiles[s.profile - 1]; },
          [](const StepCycles& s) { return s.profile == 0 ? 0 : static_cast<double>(s.cycles.compute); },
          [](const StepCycles& s) { return static_cast<double>(s.cycles.compute); }};
}

std::optional<Finding> find_few_tiles(const Report& report, const StepSums& sums) {
  const std::size_t tiles = report.target.tiles;
  const double weighted = sums.parts[0].sum, cycles = sums.parts[1].sum;
  if (cycles == 0 || tiles < 2) return std::nullopt;
  const double used = weighted / cycles / static_cast<double>(tiles);
  if (used > 0.5) return std::nullopt;
  Finding f{fmt::format("compute steps use {} of the {} tiles on average", percent_text(used), count_text(tiles)),
            "Map tensors over more tiles, and let each operation split its work into at least one vertex for each worker of each tile.",
            (1 - used) * share_of_all(sums, cycles),
            {}};
  for (const std::size_t i : sums.parts[2].worst)
    if (report.steps[i].profile > 0)
      f.evidence.push_back({fmt::format("{}: {} tiles", name_of_step(report.steps[i]),
                                        count_text(tiles_of(report.tile_profiles[report.steps[i].profile - 1]))),
                            {},
                            report.steps[i].order,
                            i});
  return f;
}

}  // namespace

extern const AdviceRow advice_few_tiles;
constinit const AdviceRow advice_few_tiles = {"few_tiles", "cycles", "vertices run on a small part of the tiles", find_few_tiles,
                                              parts_of_few_tiles};

}  // namespace pando::profile
