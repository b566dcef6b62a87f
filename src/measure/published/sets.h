// One function for each table of published measurements.
#pragma once

#include "measure/published/published.h"
#include "search/strategy.h"
#include "simulate/csv.h"

#include <cstddef>
#include <vector>

namespace pando::measure {

PublishedSet zero_bubble_set(const std::string& name, const simulate::Csv& csv, bool half_chunks);
// `times`: zb_iclr24, which has the times of the passes.
PublishedSet optimizer_sync_set(const simulate::Csv& csv, const simulate::Csv& times);
PublishedSet small_steps_set(const simulate::Csv& csv, const simulate::Csv& times);
PublishedSet selene_steps_set(const simulate::Csv& csv);
PublishedSet selene_memory_set(const simulate::Csv& csv);
// b200_op_efficiency: what shapes/b200.cpp has.
search::MeasuredShapes read_measured_shapes(const simulate::Csv& csv);
PublishedSet b200_set(const simulate::Csv& csv, bool memory);
PublishedSet sc21_table1_set(const simulate::Csv& csv);
PublishedSet sc21_table2_set(const simulate::Csv& csv);
PublishedSet mtnlg_set(const simulate::Csv& csv);
PublishedSet torchtitan_set(const simulate::Csv& csv, bool memory);

// A table that pando fit reads, too.
struct TimedSet {
  const char *name, *machine, *stack, *words, *note;
  bool gated = false;
  // Attention of a time before FlashAttention.
  bool keeps_scores = false;
  // Lines of the table whose rows a constant of the machine or the stack was chosen with.
  std::vector<std::size_t> calibrating = {};
  // Of what a node shares, where it is not the machine's; 0: as the machine says.
  double node_bytes_per_second = 0;
};
const std::vector<TimedSet>& timed_sets();
// `memory`: GiB of the fullest device, not seconds; a set without rows if the table does not have them.
PublishedSet timed_set(const TimedSet& of, const simulate::Csv& csv, const std::string& file, bool memory);

}  // namespace pando::measure
