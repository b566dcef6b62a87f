// Published measurements beside what the model says of them. A row calibrates if one of the model's constants was chosen with it; all
// others are predictions.
#pragma once

#include <string>
#include <vector>

namespace pando::measure {

struct PublishedRow {
  std::string set, what, unit;
  double measured = 0, predicted = 0;
  bool calibrates = false;
  double error() const { return measured == 0 ? 0 : predicted / measured - 1; }
};

struct PublishedSet {
  std::string name;
  // Which constants were chosen with which rows; how far the model goes.
  std::string note;
  std::vector<PublishedRow> rows;
  // Rows that are not compared, each with the reason.
  std::vector<std::string> left_out;
  // Share of pairs of schedules of one configuration that are ranked right; -1: not asked.
  double pairs_right = -1;
  int pairs = 0;
  double mean_error() const;
  double worst_error() const;
};

// Reads the tables that `folder` has of: zb_iclr24, zbv_arxiv, zb_optimizer_sync and zb_small_m (with zb_iclr24), selene_steps,
// selene_memory, b200_steps, megatron_sc21_table1, megatron_sc21_table2, mtnlg_530B, torchtitan_h100, and those of timed_sets() (.csv).
// Rows that the model cannot express are left out, and listed with the reason. Rejects (poplar_error) a folder that has none of them, and a
// table without rows.
std::vector<PublishedSet> compare_published(const std::string& folder);

// As Markdown: one table of the sets, then each set's rows.
std::string to_markdown(const std::vector<PublishedSet>& sets, bool all_rows);

}  // namespace pando::measure
