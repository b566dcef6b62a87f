#include <fmt/format.h>

#include <algorithm>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

// Cycles of a worker that a vertex takes however little it computes: being called, its fields, its end. More vertices do not divide them.
constexpr std::uint64_t kFixedCycles = 40;

// Multi and supervisor vertices use all workers: the tile takes as long as the vertex does.
std::uint64_t lost_workers(const Report& report, const StepCycles& s) {
  if (s.used_workers == 0 || s.used_workers >= report.target.workers || s.executions == 0) return 0;
  if (s.slowest_cycles * 2 > s.cycles.compute / s.executions) return 0;
  const std::uint64_t divisible = s.slowest_cycles > kFixedCycles ? s.slowest_cycles - kFixedCycles : 0;
  return std::min(s.cycles.compute / report.target.workers, divisible * s.executions) * (report.target.workers - s.used_workers);
}

std::vector<StepPart> parts_of_few_workers(const Report& report) {
  return {[&report](const StepCycles& s) { return static_cast<double>(lost_workers(report, s)); }};
}

std::optional<Finding> find_few_workers(const Report& report, const StepSums& sums) {
  const double all = share_of_all(sums);
  if (all < 0.05) return std::nullopt;
  Finding f{
      fmt::format("{} of all cycles are lost because slowest tiles run fewer than {} vertices", percent_text(all), report.target.workers),
      "A tile runs a vertex on each of its workers at once. Split the work of a tile into as many vertices of equal size as it has "
      "workers.",
      all,
      {}};
  for (const std::size_t i : sums.parts[0].worst)
    f.evidence.push_back({fmt::format("{}: {} of {} workers on tile {}", name_of_step(report.steps[i]), report.steps[i].used_workers,
                                      report.target.workers, report.steps[i].slowest_tile),
                          report.steps[i].slowest_tile, report.steps[i].order, i});
  return f;
}

}  // namespace

extern const AdviceRow advice_few_workers;
constinit const AdviceRow advice_few_workers = {"few_workers", "cycles", "tiles run fewer vertices than they have workers",
                                                find_few_workers, parts_of_few_workers};

}  // namespace pando::profile
