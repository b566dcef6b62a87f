// The space of a search: which values each axis (axis.h) has, after those of the axes that are chosen before it.
#pragma once

#include "schedule/table.h"
#include "transform/distribute/layout/strategy.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pando::search {

struct StrategyFacts;

// How much of the axes a space has.
enum class Reach : std::uint8_t {
  // Calculon's axes: degrees that divide, microbatches, interleaving, recomputation, ZeRO 0 and 1, transfers, overlaps, levels of the
  // network. What others' searches are compared with.
  calculon,
  // What a trainer can run: any degrees, stages of different sizes, ZeRO 2 and 3, schedules, context and expert parallelism. Of a program:
  // 1F1B, plain and with two stages on a rank, nothing off chip.
  trainers,
  // All that the estimate knows: offload, schedules and transfers that no trainer has, too. Of a program: every schedule that has a name,
  // up to four stages on a rank, offload.
  everything,
};
std::string_view name_of(Reach r);
// Rejects (poplar_error) what is no name of one.
Reach reach_named(std::string_view name);

// A schedule that somebody made.
struct NamedTable {
  std::string name;
  schedule::Table table;
};

// What a user opens and demands.
struct Space {
  std::int64_t devices = 1;
  // Samples of a step, of a transformer: a program has its own.
  std::int64_t batch = 1;
  Reach reach = Reach::trainers;
  // Bytes of a device; 0: the machine's.
  double memory = 0;
  // What a user demands: words of a strategy (strategy_text.h); only points with these values are in the space.
  std::string require;
  // Sets of layers for each kind of recomputation, that only these compute again: at most so many. Of a transformer the first layers of
  // each stage. 0: of all layers, or none.
  std::int64_t recompute_sets = 0;

  // --- of a transformer
  // Only what the transforms can make (programs/bridge.h): no overlaps, no inputs gathered again, stages of equal size, the network's own
  // levels.
  bool runnable = false;

  // --- of a program
  std::int32_t first_device = 0;
  std::int32_t most_microbatches = 32;
  // Schedules by name instead of those above; "all": every one that has a name; "synthesised": schedules made for what the stages cost,
  // under several limits of memory.
  std::vector<std::string> schedules;
  // Tried, too, where a point has their ranks and microbatches.
  std::vector<NamedTable> tables;
  // Of how many weights at once (those of one name in all layers are one) a strategy may say how they are cut over the tensor axis: along
  // any of their dimensions, or not.
  std::int32_t cuts = 0;
  // Points whose programs have more ops than this are estimated from fewer layers and microbatches (programs/fold.h); 0: none is.
  std::int64_t fold_from = 100'000;
};

// How weights are cut over the tensor axis, as Strategy::cut says it.
using Cuts = std::map<std::string, std::int32_t>;

// What decides which values axes have.
struct SpaceFacts {
  const Space& space;
  // Of a transformer: its sizes, the machine. Null: of a program, of which the others are.
  const StrategyFacts* sizes = nullptr;
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

}  // namespace pando::search
