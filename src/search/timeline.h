// When everything of a step runs, folded: one device stands for all that do the same (tensor, context and data parallel), one layer for all
// layers of a stage.
#pragma once

#include "schedule/replay.h"
#include "search/strategy.h"

#include <string>

namespace pando::search {

struct StepTimeline {
  // Which cell of the schedule runs when; one row for each pipeline rank.
  schedule::Table table;
  schedule::Costs costs;
  schedule::Timing timing;
  // The ops of one layer: what each cell does as often as its stage has layers.
  LayerCosts layer;
  // Where only some layers are computed again: theirs, and how many of a stage that is, its first ones.
  LayerCosts first;
  std::int64_t recompute_first = 0;
  std::vector<std::int64_t> layers;
  double head = 0;
  // Behind the last cell: gradients exchanged, weights updated. Behind each rank's own last cell, where updates do not wait for all ranks.
  double exchange = 0, optimizer = 0, seconds = 0;
  bool post_validation = false;
  // Ops of all devices that this stands for.
  double ops = 0;
  // Of a microbatch, from a stage to the next one or back, on each device.
  double message_bytes = 0;
};

double message_bytes_of(const Transformer& model, const Strategy& s);

// Rejects (poplar_error) what breaks a rule of strategies, and models with experts.
StepTimeline timeline_of(const StrategyFacts& facts, const Strategy& s);
// Perfetto's trace of one device of each pipeline rank, every op of every layer; at most `most` events.
std::string chrome_trace(const StepTimeline& t, std::size_t most = 200000);

}  // namespace pando::search
