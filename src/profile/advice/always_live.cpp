#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::optional<Finding> find_always_live(const Report& report, const StepSums&) {
  if (report.tiles.empty() || report.target.bytes_per_tile == 0) return std::nullopt;
  const std::uint32_t tile = fullest_tile(report);
  std::map<std::uint32_t, std::uint64_t> bytes;
  std::uint64_t all = 0;
  const auto [begin, end] = placements_of(report, tile);
  for (std::size_t i = begin; i < end; ++i) {
    const Placement& p = report.placements[i];
    if (p.live != 0 || category_of(report, report.residents[p.resident]) != "variable") continue;
    bytes[p.resident] += p.size;
    all += p.size;
  }
  const double always = share(all, report.target.bytes_per_tile);
  if (always < 0.3) return std::nullopt;
  Finding f{fmt::format("variables that are always live take {} of tile {}'s memory", percent_text(always), tile),
            "A variable is always live if a value must outlive the program's run, or if it is read before it is written. Write a temporary "
            "whole before it is read, "
            "keep what is seldom used in Streaming Memory (remote buffers), and store optimiser state across replicas.",
            always,
            {}};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order(bytes.begin(), bytes.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 3); ++i)
    f.evidence.push_back({fmt::format("'{}': {} on tile {}", report.residents[order[i].first].name, bytes_text(order[i].second), tile),
                          tile,
                          {},
                          {},
                          order[i].first});
  return f;
}

}  // namespace

extern const AdviceRow advice_always_live;
constinit const AdviceRow advice_always_live = {"always_live", "bytes", "much of the fullest tile is live at every step", find_always_live};

}  // namespace pando::profile
