#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::vector<StepPart> parts_of_unbalanced(const Report& report) {
  static_cast<void>(report);
  return {[](const StepCycles& s) { return static_cast<double>(lost_to_imbalance(s)); }};
}

std::optional<Finding> find_unbalanced(const Report& report, const StepSums& sums) {
  const double lost = share_of_all(sums);
  if (lost < 0.05) return std::nullopt;
  Finding f{fmt::format("{} of all cycles are lost because tiles have different work", percent_text(lost)),
            "The mean tile waits for the slowest one. Give each tile the same number of vertices of the same size: map tensors evenly, and "
            "choose a "
            "grain that divides them by the tiles in use.",
            lost,
            {}};
  for (const std::size_t i : sums.parts[0].worst) {
    const StepCycles& s = report.steps[i];
    f.evidence.push_back(
        {fmt::format("{}: balance {}; tile {} is slowest, with {}{}", name_of_step(s), percent_text(s.tile_balance), s.slowest_tile,
                     s.slowest_codelet.empty() ? "vertices without estimates" : s.slowest_codelet,
                     s.slowest_cycles ? fmt::format(" ({} cycles a vertex)", count_text(s.slowest_cycles)) : std::string()),
         s.slowest_tile, s.order, i});
  }
  return f;
}

}  // namespace

extern const AdviceRow advice_unbalanced;
constinit const AdviceRow advice_unbalanced = {"unbalanced", "cycles", "tiles wait for the slowest tile of compute steps", find_unbalanced,
                                               parts_of_unbalanced};

}  // namespace pando::profile
