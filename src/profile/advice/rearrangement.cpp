#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::vector<StepPart> parts_of_rearrangement(const Report& report) {
  static_cast<void>(report);
  return {[](const StepCycles& s) { return static_cast<double>(s.cycles.local_copy); }};
}

std::optional<Finding> find_rearrangement(const Report& report, const StepSums& sums) {
  const double copies = share_of_all(sums);
  if (copies < 0.1) return std::nullopt;
  Finding f{fmt::format("{} of all cycles copy data within tiles", percent_text(copies)),
            "Data lie in another order than their readers want. Allocate tensors with the layout that the operation that reads them most "
            "asks for "
            "(createMatMulInputLHS, createWeights ...), and reorder once instead of at each use.",
            copies,
            {}};
  for (const std::size_t i : sums.parts[0].worst)
    f.evidence.push_back(
        {fmt::format("{}: {} cycles of copies", name_of_step(report.steps[i]), count_text(report.steps[i].cycles.local_copy)),
         {},
         report.steps[i].order,
         i});
  return f;
}

}  // namespace

extern const AdviceRow advice_rearrangement;
constinit const AdviceRow advice_rearrangement = {"rearrangement", "cycles", "copies within tiles take much of the time",
                                                  find_rearrangement, parts_of_rearrangement};

}  // namespace pando::profile
