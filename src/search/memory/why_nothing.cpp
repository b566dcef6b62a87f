// Why a search found nothing, and what makes it fit.
#include "search/memory/memory_report.h"
#include "search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pando::search {

std::string why_nothing(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const Result& r) {
  std::string text;
  for (const auto& [rule, broken] : r.rules) {
    text += fmt::format("  {} points break the rule '{}': {}\n", broken.points, rule, broken.example);
  }
  if (r.certificate.points == 0 && !space.require.empty()) {
    text += fmt::format("  demanded is '{}'; {}", space.require, outside_of(space));
  }
  if (!r.least) return text;
  const double limit = space.memory > 0 ? space.memory : static_cast<double>(cluster.memory_bytes),
               least = r.least->estimate.memory_bytes();
  text += fmt::format("  the least that a device needs is {:.2f} GiB of the {:.2f} that it has: {}\n", least / kGib, limit / kGib,
                      to_string(r.least->strategy, Spelling::brief));
  text += fmt::format("  its fullest device (stage {}), GiB: {}\n", r.least->estimate.fullest_stage, kinds_text(r.least->estimate.memory));
  // As pando memory says it. The space has none of them, or one would have been found.
  const std::vector<FittingChange> changes = changes_that_fit(facts_of(model, cluster, space.batch), r.least->strategy, limit);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, changes.size()); ++i) {
    text += fmt::format("  {} {}: {:.2f} GiB, {:.4g} s a step\n",
                        i == 0 ? "what would do on these devices, outside the space, the quickest first:" : "  or", changes[i].words,
                        changes[i].estimate.memory_bytes() / kGib, changes[i].estimate.seconds);
  }
  if (!changes.empty()) return text;
  // More devices with as much work each, as far as the machine goes.
  const std::int64_t most = cluster.levels.empty() ? 1 : cluster.levels.back().devices;
  for (std::int64_t times = 2; space.devices * times <= most && times <= 64; times *= 2) {
    Space larger = space;
    larger.devices *= times;
    larger.batch *= times;
    const Result more = search(model, cluster, larger);
    if (more.best.empty()) continue;
    text += fmt::format("  what would do: {} devices and a batch of {}: {}\n", larger.devices, larger.batch,
                        to_string(more.best[0].strategy, Spelling::brief));
    break;
  }
  return text + fmt::format("  what would do: devices of {:.2f} GiB (--memory {:.0f})\n", least / kGib, std::ceil(least));
}

}  // namespace pando::search
