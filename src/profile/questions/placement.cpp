#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/question.h"

namespace pando::profile {

namespace {

// Of a plan or a run: the devices of each value. Of a program of several IPUs: the bytes of each variable on each IPU.
Json answer_placement(const Report& report, const Query& query) {
  Json rows = Json::array();
  for (const PlanValue& v : report.plan.values) {
    if (rows.size() == query.top) break;
    Json devices = Json::array();
    for (const std::uint32_t d : v.devices) devices.push_back(report.plan.devices[d].name);
    rows.push_back({{"value", v.name}, {"kind", v.kind}, {"shape", v.shape}, {"bytes_each", v.bytes}, {"devices", std::move(devices)}});
  }
  if (!report.plan.title.empty())
    return cut_rows({{"values", report.plan.values.size()}, {"rows", std::move(rows)}}, report.plan.values.size());

  const std::size_t ipus = std::max(1u, report.target.ipus), per = std::max(1u, report.target.tiles_per_ipu);
  std::vector<std::vector<std::uint64_t>> bytes(report.residents.size(), std::vector<std::uint64_t>(ipus, 0));
  for (const Placement& p : report.placements) bytes[p.resident][std::min(ipus - 1, p.tile / per)] += p.size;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::string& category = report.categories[report.residents[i].category].category;
    if (category == "variable" || category == "constant") order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return report.residents[a].bytes > report.residents[b].bytes; });
  for (std::size_t k = 0; k < std::min(order.size(), query.top); ++k) {
    Json row{{"value", report.residents[order[k]].name}};
    for (std::size_t i = 0; i < ipus; ++i) row["ipu" + std::to_string(i)] = bytes[order[k]][i];
    rows.push_back(std::move(row));
  }
  return cut_rows({{"values", order.size()}, {"rows", std::move(rows)}}, order.size());
}

}  // namespace

extern const QuestionRow question_placement;
constinit const QuestionRow question_placement = {"placement", "", "which values lie on which devices, or IPUs, the largest first",
                                                  answer_placement};

}  // namespace pando::profile
