#include "search/programs/program_search.h"
#include "transform/distribute/strategy_text.h"

#include <fmt/format.h>

namespace pando::search {

namespace {

constexpr double kMib = 1024.0 * 1024;

// Steps a second where there are no samples.
double rate_of(const ProgramResult& r, const FoundProgram& f) {
  return static_cast<double>(r.samples > 0 ? r.samples : 1) / f.estimate.seconds;
}

std::string line(const ProgramResult& r, const FoundProgram& f) {
  return fmt::format("{:12.6g} {:12.6g} {:12.4f}  {}\n", f.estimate.seconds, rate_of(r, f), static_cast<double>(f.estimate.peak) / kMib,
                     to_string(f.strategy));
}

}  // namespace

std::string to_table(const ProgramResult& r) {
  std::string text = fmt::format("{:>12} {:>12} {:>12}  {}\n", "seconds", r.samples > 0 ? "samples/s" : "steps/s", "MiB", "strategy");
  for (const FoundProgram& f : r.best) text += line(r, f);
  if (r.best.empty()) {
    text += r.certificate.points > 0 ? "nothing fits\n" : "no strategy has so many devices and all that is demanded\n";
  } else {
    const ProgramEstimate& e = r.best.front().estimate;
    text +=
        fmt::format("the best: device {} computes {:.6g} s, the longest transfers take {:.6g} s; device {} is fullest, bytes:", e.busiest,
                    e.computing, e.transferring, e.fullest);
    for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k) {
      if (e.at_peak[k] > 0) text += fmt::format(" {} {}", simulate::name_of(static_cast<simulate::MemoryKind>(k)), e.at_peak[k]);
    }
    text += "\n";
    for (const std::string& whole : transform::to_lines(e.whole)) text += "  " + whole + "\n";
  }
  if (!r.frontier.empty()) {
    text += "frontier:\n";
    for (const FoundProgram& f : r.frontier) text += line(r, f);
  }
  if (!r.rules.empty()) {
    text += "against a rule:";
    for (const auto& [rule, points] : r.rules) text += fmt::format(" {} {}", rule, points);
    text += "\n";
  }
  if (r.folded > 0) {
    text += fmt::format("{} of the evaluated points are estimated from a few of the microbatches{}\n", r.folded,
                        r.equal_to > r.equal_from ? fmt::format(" and of the equal layers {} to {}", r.equal_from, r.equal_to - 1) : "");
  }
  return text + to_text(r.certificate);
}

std::string frontier_svg(const ProgramResult& r, double limit) {
  std::vector<FrontierDot> dots;
  const auto add = [&](const FoundProgram& f, bool frontier) {
    dots.push_back({static_cast<double>(f.estimate.peak), rate_of(r, f), to_string(f.strategy), frontier});
  };
  for (const FoundProgram& f : r.frontier) add(f, true);
  for (const FoundProgram& f : r.best) add(f, false);
  return draw_frontier(dots, limit, r.samples > 0 ? "samples" : "steps");
}

}  // namespace pando::search
