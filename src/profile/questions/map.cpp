#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

std::uint32_t last_order(const Report& report) {
  std::uint32_t last = report.program.empty() ? 0 : report.program.back().order;
  for (const StreamLiveness& stream : report.liveness)
    if (!stream.steps.empty()) last = std::max(last, stream.steps.back().order);
  return last;
}

Json answer_map(const Report& report, const Query& query) {
  const std::size_t at = query.argument.find('@');
  const auto tile = static_cast<std::uint32_t>(argument_number({query.argument.substr(0, at), query.top}, "tile", report.tiles.size()));
  const std::optional<Peak> peak = peak_of(report);
  std::uint32_t order = peak ? peak->order : 0;
  if (at != std::string::npos) {
    order = static_cast<std::uint32_t>(argument_number({query.argument.substr(at + 1), query.top}, "step", ~0u));
    if (const std::uint32_t last = last_order(report); order > last)
      fail(ErrorKind::invalid_option, "report-argument", "no step has the order {}; the last one has {}", order, last);
  }
  Json rows = Json::array();
  std::uint64_t end = 0, gaps = 0, hole = 0;
  const auto [first, last] = placements_of(report, tile);
  for (std::size_t i = first; i < last; ++i) {
    const Placement& p = report.placements[i];
    if (!is_live(report, p, order) || p.size == 0) continue;
    if (p.offset > end) {
      rows.push_back({{"offset", end}, {"size", p.offset - end}, {"category", "gap"}, {"name", ""}, {"live", ""}});
      gaps += p.offset - end;
      hole = std::max(hole, p.offset - end);
    }
    const Resident& r = report.residents[p.resident];
    rows.push_back({{"offset", p.offset},
                    {"size", p.size},
                    {"category", category_of(report, r)},
                    {"name", r.name},
                    {"live", p.live == 0 ? "always" : "now"}});
    end = std::max(end, p.offset + p.size);
  }
  return {{"tile", tile}, {"step", order}, {"end", end}, {"gaps", gaps}, {"largest_gap", hole}, {"rows", std::move(rows)}};
}

}  // namespace

extern const QuestionRow question_map;
constinit const QuestionRow question_map = {"map", "TILE@STEP",
                                            "the address map of a tile at a step, gaps included; without @STEP at the peak", answer_map};

}  // namespace pando::profile
