#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::vector<StepPart> parts_of_sync_bound(const Report& report) {
  static_cast<void>(report);
  return {[](const StepCycles& s) { return static_cast<double>(s.cycles.sync); }};
}

std::optional<Finding> find_sync_bound(const Report& report, const StepSums& sums) {
  const double sync = share_of_all(sums);
  if (sync < 0.2) return std::nullopt;
  Finding f{fmt::format("{} of all cycles are syncs", percent_text(sync)),
            "Supersteps are short. Merge compute sets and copies that do not depend on each other, and give each superstep more work.",
            sync,
            {}};
  for (const std::size_t i : sums.parts[0].worst)
    f.evidence.push_back({fmt::format("{}: executed {} times", name_of_step(report.steps[i]), count_text(report.steps[i].executions)),
                          {},
                          report.steps[i].order,
                          i});
  return f;
}

}  // namespace

extern const AdviceRow advice_sync_bound;
constinit const AdviceRow advice_sync_bound = {"sync_bound", "cycles", "syncs take much of the time", find_sync_bound, parts_of_sync_bound};

}  // namespace pando::profile
