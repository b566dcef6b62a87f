// What a table means in time: the check of its rules, and when each cell runs.
//
// A cell starts when its rank is free and what it needs is there:
//
//     F of stage s     F of stage s - 1, of the same microbatch
//     I, B of stage s  F of stage s, and I or B of stage s + 1
//     W of stage s     I of stage s
//
// What comes from another rank is there `transfer` later. Two cells that overlap are
// counted one behind the other: side by side, they take no less of the rank.
#pragma once

#include "schedule/table.h"

#include <optional>
#include <string>
#include <vector>

namespace pando::schedule {

struct Costs {
  // Of one stage and one microbatch; one number for all stages, or one for each. B costs I + W.
  std::vector<double> forward{1}, input_gradient{1}, weight_gradient{1};
  double transfer = 0;

  double of(const Cell& cell) const;
};

// Rejects (poplar_error): a cost that is no number of 0 or more, as many costs of a kind as there are neither one nor stages, costs whose
// sum over all cells and transfers no number is for.
void check_costs(const Table& table, const Costs& costs);

struct Broken {
  // no-cells, stage-on-two-ranks, cell-twice, cell-missing, backward-mixed, overlap, order, deadlock
  std::string rule;
  std::string message;
  std::int32_t rank = 0;
  // Position in the rank's row.
  std::int32_t cell = 0;
};

// The first rule that the table breaks: every stage on one rank; each F once and each backward once (as B, or as I and W) for every stage
// and microbatch; F before backward, I before W on their rank; no deadlock.
std::optional<Broken> first_broken_rule(const Table& table);

struct Timing {
  double makespan = 0;
  // Largest time from the beginning of a rank's first cell to the end of its last.
  double span = 0;
  // Share of `span` that a rank is idle, if all ranks are as busy as the busiest.
  double bubble = 0;
  // Sum over ranks of when their last cell ends.
  double ends = 0;
  // For each rank, the most activations that it holds at once, in microbatches of a whole rank: counted from F to W, and half to I.
  std::vector<double> peak, peak_half;
  // Start of each cell, by rank.
  std::vector<std::vector<double>> start;
};

// As Timing::peak, with a share of each activation that is held to I alone.
std::vector<double> peaks(const Table& table, double released);

// Nothing if it does not come to an end.
std::optional<Timing> try_replay(const Table& table, const Costs& costs = {});
// The table must obey the rules (its transfers are not looked at). Rejects what check_costs does.
Timing replay(const Table& table, const Costs& costs = {});

}  // namespace pando::schedule
