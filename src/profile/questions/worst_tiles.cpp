#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_worst_tiles(const Report& report, const Query& query) {
  std::vector<std::uint32_t> order(report.tiles.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return report.tiles[a].with_gaps > report.tiles[b].with_gaps; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i) {
    const TileMemory& t = report.tiles[order[i]];
    std::size_t most = 0;
    for (std::size_t c = 0; c < t.by_category.size(); ++c)
      if (t.by_category[c] > t.by_category[most]) most = c;
    rows.push_back({{"tile", order[i]},
                    {"with_gaps", t.with_gaps},
                    {"used", t.used},
                    {"gaps", t.with_gaps > t.used ? t.with_gaps - t.used : 0},
                    {"always_live", t.always_live},
                    {"most", t.by_category.empty() ? "" : report.categories[most].category},
                    {"most_bytes", t.by_category.empty() ? 0 : t.by_category[most]}});
  }
  return cut_rows({{"limit", report.target.bytes_per_tile}, {"rows", std::move(rows)}}, order.size());
}

}  // namespace

extern const QuestionRow question_worst_tiles;
constinit const QuestionRow question_worst_tiles = {"worst_tiles", "", "the fullest tiles, each with what takes most", answer_worst_tiles};

}  // namespace pando::profile
