#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_summary(const Report& report, const Query& query) {
  static_cast<void>(query);
  std::uint64_t used = 0, tiles = 0;
  for (const TileMemory& t : report.tiles) {
    used += t.used;
    tiles += t.with_gaps > 0 ? 1 : 0;
  }
  Json out{{"machine", report.target.name},
           {"ipus", report.target.ipus},
           {"tiles", report.target.tiles},
           {"bytes_per_tile", report.target.bytes_per_tile},
           {"variables", report.graph.variables},
           {"vertices", report.graph.vertices},
           {"compute_sets", report.graph.compute_sets},
           {"tiles_in_use", tiles},
           {"bytes_in_use", used},
           {"fullest_tile", fullest_tile(report)},
           {"fullest_tile_bytes", report.tiles.empty() ? 0 : report.tiles[fullest_tile(report)].with_gaps},
           {"out_of_memory", report.out_of_memory},
           {"runs", report.runs},
           {"total_cycles", report.total_cycles},
           {"seconds", report.target.clock_hz > 0 ? static_cast<double>(report.total_cycles) / report.target.clock_hz : 0.0}};
  Json rows = Json::array();
  for (const StreamTotals& s : report.streams)
    rows.push_back({{"stream", s.stream},
                    {"compute", s.cycles.compute},
                    {"exchange", s.cycles.exchange + s.cycles.local_copy + s.cycles.global_exchange},
                    {"sync", s.cycles.sync},
                    {"host", s.cycles.host},
                    {"wait", s.cycles.wait},
                    {"finish", s.finish}});
  out["rows"] = std::move(rows);
  return out;
}

}  // namespace

extern const QuestionRow question_summary;
constinit const QuestionRow question_summary = {"summary", "", "the machine, the graph, memory and cycles", answer_summary};

}  // namespace pando::profile
