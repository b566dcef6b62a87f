#include "measure/published/published.h"

#include "base/error.h"
#include "measure/published/sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace pando::measure {

using namespace search;

double PublishedSet::mean_error() const {
  double sum = 0;
  for (const PublishedRow& r : rows) sum += std::abs(r.error());
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

double PublishedSet::worst_error() const {
  double worst = 0;
  for (const PublishedRow& r : rows) worst = std::max(worst, std::abs(r.error()));
  return worst;
}

std::vector<PublishedSet> compare_published(const std::string& folder) {
  std::vector<PublishedSet> all;
  // A table without rows is one that was lost on its way.
  const auto table = [&](const std::string& path) {
    simulate::Csv csv = simulate::Csv::read_file(path);
    if (csv.rows() == 0) fail(ErrorKind::poplar_error, "validation-rows", "{} has no rows; leave the file out, or give it some", path);
    return csv;
  };
  const auto add = [&](const char* file, auto make) {
    const std::string path = folder + "/" + file + ".csv";
    if (std::filesystem::exists(path)) make(table(path));
  };
  add("zb_iclr24", [&](const simulate::Csv& csv) { all.push_back(zero_bubble_set("zb_iclr24", csv, false)); });
  add("zbv_arxiv", [&](const simulate::Csv& csv) { all.push_back(zero_bubble_set("zbv_arxiv", csv, true)); });
  const std::string times = folder + "/zb_iclr24.csv";
  if (std::filesystem::exists(times)) {
    const simulate::Csv passes = table(times);
    add("zb_optimizer_sync", [&](const simulate::Csv& csv) { all.push_back(optimizer_sync_set(csv, passes)); });
    add("zb_small_m", [&](const simulate::Csv& csv) { all.push_back(small_steps_set(csv, passes)); });
  }
  add("selene_steps", [&](const simulate::Csv& csv) { all.push_back(selene_steps_set(csv)); });
  add("selene_memory", [&](const simulate::Csv& csv) { all.push_back(selene_memory_set(csv)); });
  add("b200_steps", [&](const simulate::Csv& csv) {
    all.push_back(b200_set(csv, false));
    all.push_back(b200_set(csv, true));
  });
  add("megatron_sc21_table1", [&](const simulate::Csv& csv) { all.push_back(sc21_table1_set(csv)); });
  add("megatron_sc21_table2", [&](const simulate::Csv& csv) { all.push_back(sc21_table2_set(csv)); });
  add("mtnlg_530B", [&](const simulate::Csv& csv) { all.push_back(mtnlg_set(csv)); });
  add("torchtitan_h100", [&](const simulate::Csv& csv) {
    all.push_back(torchtitan_set(csv, false));
    all.push_back(torchtitan_set(csv, true));
  });
  for (const TimedSet& of : timed_sets())
    add(of.name, [&](const simulate::Csv& csv) {
      for (const bool memory : {false, true}) {
        PublishedSet set = timed_set(of, csv, fmt::format("{}.csv", of.name), memory);
        if (!memory || !set.rows.empty()) all.push_back(std::move(set));
      }
    });
  if (all.empty()) {
    fail(ErrorKind::poplar_error, "validation-folder",
         "there is no table of measurements in '{}'; expected are files such as selene_steps.csv", folder);
  }
  return all;
}

std::string to_markdown(const std::vector<PublishedSet>& sets, bool all_rows) {
  std::string text =
      "| set | rows | calibrate | mean error | worst | predicted rows only: mean | pairs ranked right |\n| --- | --- | --- "
      "| --- | --- | --- | --- |\n";
  for (const PublishedSet& s : sets) {
    int calibrating = 0;
    double sum = 0;
    for (const PublishedRow& r : s.rows) {
      calibrating += r.calibrates;
      sum += r.calibrates ? 0 : std::abs(r.error());
    }
    if (s.rows.empty()) {
      text += fmt::format("| {} | none of {} |  | nothing is compared |  |  |  |\n", s.name, s.left_out.size());
      continue;
    }
    const int others = static_cast<int>(s.rows.size()) - calibrating;
    text += fmt::format("| {} | {} | {} | {:.2f} % | {:.2f} % | {} | {} |\n", s.name, s.rows.size(), calibrating, 100 * s.mean_error(),
                        100 * s.worst_error(), others > 0 ? fmt::format("{:.2f} %", 100 * sum / others) : "",
                        s.pairs > 0 ? fmt::format("{:.1f} % of {}", 100 * s.pairs_right, s.pairs) : "");
  }
  for (const PublishedSet& s : sets) {
    text += fmt::format("\n**{}**: {}\n", s.name, s.note);
    if (!s.left_out.empty()) text += fmt::format("\n{} rows are left out:\n", s.left_out.size());
    for (const std::string& row : s.left_out) text += fmt::format("* {}\n", row);
    if (!all_rows || s.rows.empty()) continue;
    text += "\n| row | measured | predicted | error | |\n| --- | --- | --- | --- | --- |\n";
    for (const PublishedRow& r : s.rows) {
      text += fmt::format("| {} | {:.4g} {} | {:.4g} | {:+.2f} % | {} |\n", r.what, r.measured, r.unit, r.predicted, 100 * r.error(),
                          r.calibrates ? "calibrates" : "");
    }
  }
  return text;
}

}  // namespace pando::measure
