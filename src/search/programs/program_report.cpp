#include "search/programs/program_search.h"
#include "search/strategy_text.h"

#include <fmt/format.h>

namespace pando::search {

Report report_of(const ProgramResult& r) {
  const auto text = [](const Strategy& s) { return to_string(s, Spelling::whole); };
  Report report{.best = lines_of(r.best, text),
                .frontier = lines_of(r.frontier, text),
                .certificate = r.certificate,
                .rate = static_cast<double>(r.samples > 0 ? r.samples : 1),
                .rate_name = r.samples > 0 ? "samples" : "steps",
                .is_small = true};
  if (!r.best.empty()) {
    const ProgramEstimate& e = r.best.front().estimate;
    report.of_the_best =
        fmt::format("the best: device {} computes {:.6g} s, the longest transfers take {:.6g} s; device {} is fullest, bytes: {}\n",
                    e.busiest, e.computing, e.transferring, e.fullest, kinds_text(e.at_peak));
    for (const std::string& whole : transform::to_lines(e.whole)) report.of_the_best += "  " + whole + "\n";
  }
  if (!r.rules.empty()) {
    report.notes += "against a rule:";
    for (const auto& [rule, broken] : r.rules) report.notes += fmt::format(" {} {}", rule, broken.points);
    report.notes += "\n";
  }
  if (r.folded > 0) {
    report.notes +=
        fmt::format("{} of the evaluated points are estimated from a few of the microbatches{}\n", r.folded,
                    r.equal_to > r.equal_from ? fmt::format(" and of the equal layers {} to {}", r.equal_from, r.equal_to - 1) : "");
  }
  return report;
}

}  // namespace pando::search
