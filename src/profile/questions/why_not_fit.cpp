#include <nlohmann/json.hpp>
#include <optional>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_why_not_fit(const Report& report, const Query& query) {
  const std::uint32_t tile = fullest_tile(report);
  const std::uint64_t limit = report.target.bytes_per_tile, needed = report.tiles.empty() ? 0 : report.tiles[tile].with_gaps;
  Json out{{"fits", report.out_of_memory.empty()},
           {"tile", tile},
           {"needed", needed},
           {"limit", limit},
           {"missing", limit > 0 && needed > limit ? needed - limit : 0}};
  std::size_t over = 0;
  for (const TileMemory& t : report.tiles) over += limit > 0 && t.with_gaps > limit;
  out["tiles_over"] = over;
  Json changes = Json::array(), rows = Json::array();
  for (const std::string& text : smallest_changes(report)) changes.push_back(text);
  out["changes"] = std::move(changes);
  const std::optional<std::uint32_t> order = fullest_order(report, tile);
  const Residents live = order ? live_at(report, *order, tile) : Residents();
  if (order) out["step"] = *order;
  for (const auto& [resident, bytes] : live) {
    if (rows.size() == query.top) break;
    const Resident& r = report.residents[resident];
    rows.push_back({{"bytes", bytes}, {"category", category_of(report, r)}, {"name", r.name}, {"source", source_text(report, r.source)}});
  }
  out["rows"] = std::move(rows);
  return cut_rows(std::move(out), live.size());
}

}  // namespace

extern const QuestionRow question_why_not_fit;
constinit const QuestionRow question_why_not_fit = {
    "why_not_fit", "", "why the program does not fit, and the smallest change that makes it fit", answer_why_not_fit};

}  // namespace pando::profile
