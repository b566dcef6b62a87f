// The space of strategies of a program: which values each axis (axis.h) has, after those of the axes that are chosen before it.
#pragma once

#include "schedule/table.h"
#include "transform/distribute/layout/strategy.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pando::transform {

// A schedule that somebody made.
struct NamedTable {
  std::string name;
  schedule::Table table;
};

// What a user opens and demands.
struct Space {
  std::int32_t devices = 1, first_device = 0;
  // Bytes of a device; 0: the machine's.
  double memory = 0;
  // Every schedule that has a name, up to four stages on a rank, offload. Otherwise 1F1B, plain and with two stages on a rank, nothing off
  // chip.
  bool wide = false;
  // What a user demands: words of a strategy (axis.h).
  std::string require;
  std::int32_t most_microbatches = 32;
  // Schedules by name instead of those above; "all": every one that has a name; "synthesised": schedules made for what the stages cost,
  // under several limits of memory.
  std::vector<std::string> schedules;
  // Tried, too, where a point has their ranks and microbatches.
  std::vector<NamedTable> tables;
  // Of how many weights at once (those of one name in all layers are one) a strategy may say how they are cut over the tensor axis: along
  // any of their dimensions, or not.
  std::int32_t cuts = 0;
  // Points whose programs have more ops than this are estimated from fewer layers and microbatches (search/programs/fold.h); 0: none is.
  std::int64_t fold_from = 100'000;
  // Of how many sets of layers, for each kind of recomputation, a strategy may say that these alone compute again
  // (search/programs/recompute_choices.h).
  std::int32_t recompute_sets = 0;
};

// How weights are cut over the tensor axis, as Strategy::cut says it.
using Cuts = std::map<std::string, std::int32_t>;

// What of a program and a machine decides which values axes have.
struct SpaceFacts {
  const Space& space;
  // Of every input and stream that counts samples, what all their sizes divide by; 0: none counts.
  std::int64_t samples = 0;
  bool has_sequence = false, has_experts = false, has_backward = false, has_updates = false, has_attention = false;
  // By layer: operations, and seconds at the best efficiency, of its forward ops.
  std::vector<double> layer_operations, layer_seconds;
  // By degree of the tensor axis: all ways to say it of up to Space::cuts weights, without those that change nothing.
  std::map<std::int32_t, std::vector<Cuts>> cuts;
  // The devices are on several levels of the network, so it matters how they are numbered.
  bool has_levels = false;
};

}  // namespace pando::transform
