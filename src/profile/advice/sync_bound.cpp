#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::optional<Finding> find_sync_bound(const Report& report) {
  const double sync = share_of_all(report, [](const StepCycles& s) { return s.cycles.sync; });
  if (sync < 0.2) return std::nullopt;
  Finding f{fmt::format("{} of all cycles are syncs", percent_text(sync)),
            "Supersteps are short. Merge compute sets and copies that do not depend on each other, and give each superstep more work.",
            sync,
            {}};
  for (const std::size_t i : worst_steps(report, [](const StepCycles& s) { return s.cycles.sync; }))
    f.evidence.push_back({fmt::format("{}: executed {} times", name_of_step(report.steps[i]), count_text(report.steps[i].executions)),
                          {},
                          report.steps[i].order,
                          i});
  return f;
}

}  // namespace

extern const AdviceRow advice_sync_bound;
constinit const AdviceRow advice_sync_bound = {"sync_bound", "cycles", "syncs take much of the time", find_sync_bound};

}  // namespace pando::profile
