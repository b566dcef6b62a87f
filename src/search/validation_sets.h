// One function for each table of published measurements.
#pragma once

#include "search/strategy.h"
#include "search/validate.h"
#include "simulate/csv.h"

namespace pando::search {

ValidationSet zero_bubble_set(const std::string& name, const simulate::Csv& csv, bool half_chunks);
// `times`: zb_iclr24, which has the times of the passes.
ValidationSet optimizer_sync_set(const simulate::Csv& csv, const simulate::Csv& times);
ValidationSet small_steps_set(const simulate::Csv& csv, const simulate::Csv& times);
ValidationSet selene_steps_set(const simulate::Csv& csv);
ValidationSet selene_memory_set(const simulate::Csv& csv);
// b200_op_efficiency: what shapes/b200.cpp has.
MeasuredShapes read_measured_shapes(const simulate::Csv& csv);
ValidationSet b200_set(const simulate::Csv& csv, bool memory);
ValidationSet sc21_table1_set(const simulate::Csv& csv);
ValidationSet sc21_table2_set(const simulate::Csv& csv);
ValidationSet mtnlg_set(const simulate::Csv& csv);
ValidationSet torchtitan_set(const simulate::Csv& csv, bool memory);

// A table that pando fit reads, too.
struct TimedSet {
  const char *name, *machine, *stack, *words, *note;
  bool gated;
};
const std::vector<TimedSet>& timed_sets();
ValidationSet timed_set(const TimedSet& of, const simulate::Csv& csv, const std::string& file);

}  // namespace pando::search
