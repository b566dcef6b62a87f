#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::vector<StepPart> parts_of_exchange_bound(const Report& report) {
  static_cast<void>(report);
  return {[](const StepCycles& s) { return static_cast<double>(s.cycles.exchange + s.cycles.global_exchange); },
          [](const StepCycles& s) { return static_cast<double>(s.cycles.compute); }};
}

std::optional<Finding> find_exchange_bound(const Report& report, const StepSums& sums) {
  const double exchange = share_of_all(sums);
  const double compute = share_of_all(sums, sums.parts[1].sum);
  if (exchange < 0.2 || exchange < compute) return std::nullopt;
  Finding f{
      fmt::format("{} of all cycles move data between tiles, {} compute", percent_text(exchange), percent_text(compute)),
      "Keep operands on the tile that uses them, give a vertex more work for each byte it receives, and exchange once what several compute "
      "sets read.",
      exchange,
      {}};
  for (const std::size_t i : sums.parts[0].worst) {
    const StepCycles& s = report.steps[i];
    // Tiles that only send have no bytes of their own.
    const std::string what = s.exchanged_bytes > 0 ? fmt::format("{} received by the tiles of {}", bytes_text(s.exchanged_bytes), s.stream)
                                                   : fmt::format("{} cycles in which the tiles of {} send",
                                                                 count_text(s.cycles.exchange + s.cycles.global_exchange), s.stream);
    f.evidence.push_back({fmt::format("{}: {}", name_of_step(s), what), {}, s.order, i});
  }
  return f;
}

}  // namespace

extern const AdviceRow advice_exchange_bound;
constinit const AdviceRow advice_exchange_bound = {"exchange_bound", "cycles", "exchanges take more cycles than computing",
                                                   find_exchange_bound, parts_of_exchange_bound};

}  // namespace pando::profile
