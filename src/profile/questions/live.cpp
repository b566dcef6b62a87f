#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

std::optional<Peak> peak_at(const Report& report, const Query& query) {
  if (query.argument.empty()) return peak_of(report);
  const auto order = argument_number(query, "step", ~0u);
  std::optional<Peak> found;
  for (const StreamLiveness& stream : report.liveness)
    for (const LiveStep& s : stream.steps)
      if (s.order == order && (!found || s.worst_tile_bytes > found->tile_bytes))
        found = Peak{s.order, s.worst_tile, s.worst_tile_bytes, s.live_bytes, stream.stream, s.name};
  if (!found) fail(ErrorKind::invalid_option, "report-argument", "no step that has memory has the order {}", order);
  return found;
}

std::string step_name(const Report& report, std::uint32_t order) {
  for (const ProgramStep& s : report.program)
    if (s.order == order && !stands_around(s) && s.kind != "call") return s.name.empty() ? s.kind : s.name;
  return fmt::format("step {}", order);
}

// The steps that need it first and last.
std::string kept_by(const Report& report, const Resident& r) {
  if (r.always_live_bytes == r.bytes) return "always live";
  return fmt::format("{} to {}", step_name(report, r.first), step_name(report, r.last == 0 ? 0 : r.last - 1));
}

Json answer_live(const Report& report, const Query& query) {
  const std::optional<Peak> peak = peak_at(report, query);
  if (!peak) return {{"rows", Json::array()}};
  std::map<std::string, std::uint64_t> classes;
  Json rows = Json::array(), by_category = Json::array();
  const Residents live = live_at(report, peak->order, peak->tile);
  for (const auto& [resident, bytes] : live) {
    const Resident& r = report.residents[resident];
    classes[category_of(report, r)] += bytes;
    if (rows.size() == query.top) continue;
    rows.push_back({{"bytes", bytes},
                    {"category", category_of(report, r)},
                    {"name", r.name},
                    {"kept_by", kept_by(report, r)},
                    {"source", source_text(report, r.source)}});
  }
  for (const auto& [category, bytes] : classes) by_category.push_back({{"category", category}, {"bytes", bytes}});
  return cut_rows({{"step", peak->order},
                   {"name", peak->step},
                   {"stream", peak->stream},
                   {"tile", peak->tile},
                   {"tile_bytes", peak->tile_bytes},
                   {"live_bytes", peak->live_bytes},
                   {"categories", by_category},
                   {"rows", rows}},
                  live.size());
}

}  // namespace

extern const QuestionRow question_live;
constinit const QuestionRow question_live = {
    "live", "STEP", "what is live at a step, on the tile that is fullest then; without STEP at the peak", answer_live};

}  // namespace pando::profile
