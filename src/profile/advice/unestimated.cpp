#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::vector<StepPart> parts_of_unestimated(const Report& report) {
  static_cast<void>(report);
  return {[](const StepCycles& s) { return static_cast<double>(s.unestimated_vertices); },
          [](const StepCycles& s) { return static_cast<double>(s.vertices); }};
}

std::optional<Finding> find_unestimated(const Report& report, const StepSums& sums) {
  const auto unknown = static_cast<std::uint64_t>(sums.parts[0].sum), all = static_cast<std::uint64_t>(sums.parts[1].sum);
  if (unknown == 0) return std::nullopt;
  Finding f{fmt::format("the cycles of {} of {} executed vertices are not known", count_text(unknown), count_text(all)),
            "Their steps seem cheaper than they are. Their code cannot be counted, and nothing estimates it: add a cycle estimator "
            "(Graph::registerPerfEstimator).",
            share(unknown, all),
            {}};
  for (const CodeletCycles& c : report.codelets)
    if (!c.estimated && f.evidence.size() < 3)
      f.evidence.push_back(
          {fmt::format("{}: executed {} times{}", c.codelet, count_text(c.instances), c.source.empty() ? "" : "; " + c.source)});
  return f;
}

}  // namespace

extern const AdviceRow advice_unestimated;
constinit const AdviceRow advice_unestimated = {"unestimated", "cycles", "vertices with neither an estimate nor a count take nothing",
                                                find_unestimated, parts_of_unestimated};

}  // namespace pando::profile
