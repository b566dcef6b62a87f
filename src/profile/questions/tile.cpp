#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

// All that has a place there at some step.
Residents everything_on(const Report& report, std::uint32_t tile) {
  std::map<std::uint32_t, std::uint64_t> bytes;
  const auto [begin, end] = placements_of(report, tile);
  for (std::size_t i = begin; i < end; ++i) bytes[report.placements[i].resident] += report.placements[i].size;
  Residents out(bytes.begin(), bytes.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

struct TileVertices {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> sources;  // of their compute sets
};

std::map<std::string, TileVertices> vertices_on(const Report& report, std::uint32_t tile) {
  std::map<std::string, TileVertices> out;
  for (const ComputeSetVertices& cs : report.compute_sets)
    for (const CodeletVertices& c : cs.codelets)
      for (std::size_t k = 0; k + 2 < c.tiles.size(); k += 3)
        if (c.tiles[k] <= tile && tile < c.tiles[k + 1]) {
          TileVertices& v = out[c.codelet];
          v.count += c.tiles[k + 2];
          v.sources.push_back(cs.source);
        }
  return out;
}

Json answer_tile(const Report& report, const Query& query) {
  const auto tile = static_cast<std::uint32_t>(argument_number(query, "tile", report.tiles.size()));
  const TileMemory& t = report.tiles[tile];
  Json categories = Json::array(), rows = Json::array(), vertices = Json::array();
  for (std::size_t c = 0; c < t.by_category.size(); ++c)
    if (t.by_category[c] > 0) categories.push_back({{"category", report.categories[c].category}, {"bytes", t.by_category[c]}});
  const Residents all = everything_on(report, tile);
  for (const auto& [resident, bytes] : all) {
    if (rows.size() == query.top) break;
    const Resident& r = report.residents[resident];
    rows.push_back({{"bytes", bytes}, {"category", category_of(report, r)}, {"name", r.name}, {"source", source_text(report, r.source)}});
  }
  for (const auto& [codelet, v] : vertices_on(report, tile))
    vertices.push_back({{"vertices", v.count},
                        {"codelet", codelet},
                        {"defined", defined_text(report, codelet)},
                        {"source", sources_text(report, v.sources)}});
  return cut_rows({{"tile", tile},
                   {"used", t.used},
                   {"with_gaps", t.with_gaps},
                   {"always_live", t.always_live},
                   {"limit", report.target.bytes_per_tile},
                   {"categories", categories},
                   {"vertices", vertices},
                   {"rows", rows}},
                  all.size());
}

}  // namespace

extern const QuestionRow question_tile;
constinit const QuestionRow question_tile = {"tile", "TILE", "one tile: its memory by category, its largest residents, its vertices",
                                             answer_tile};

}  // namespace pando::profile
