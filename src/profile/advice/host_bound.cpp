#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::vector<StepPart> parts_of_host_bound(const Report& report) {
  static_cast<void>(report);
  return {[](const StepCycles& s) { return static_cast<double>(s.cycles.host); }};
}

std::optional<Finding> find_host_bound(const Report& report, const StepSums& sums) {
  const double host = share_of_all(sums);
  if (host < 0.3) return std::nullopt;
  Finding f{fmt::format("{} of all cycles are transfers to and from the host", percent_text(host)),
            "Transfer larger blocks less often, overlap them with computing (I/O tiles), or keep data in Streaming Memory. Host times are "
            "parameters "
            "of the machine that nothing validates.",
            host,
            {}};
  for (const std::size_t i : sums.parts[0].worst)
    f.evidence.push_back({fmt::format("{}: {} cycles", name_of_step(report.steps[i]), count_text(report.steps[i].cycles.host)),
                          {},
                          report.steps[i].order,
                          i});
  return f;
}

}  // namespace

extern const AdviceRow advice_host_bound;
constinit const AdviceRow advice_host_bound = {"host_bound", "cycles", "the machine waits for the host", find_host_bound,
                                               parts_of_host_bound};

}  // namespace pando::profile
