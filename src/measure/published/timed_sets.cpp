// Sets whose tables say all that defines a run: read as pando fit reads a user's.
#include "measure/published/sets.h"
#include "search/fit/timed_steps.h"
#include "search/shapes.h"
#include "search/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pando::measure {

using namespace search;

namespace {

// Rows of one model and one number of devices and samples: is the quicker strategy found?
void rank_pairs(PublishedSet& set, const std::vector<TimedStep>& steps) {
  int right = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t j = i + 1; j < steps.size(); ++j) {
      const TimedStep &a = steps[i], &b = steps[j];
      const bool alike = a.model.name == b.model.name && a.model.layers == b.model.layers && a.model.hidden == b.model.hidden &&
                         a.model.seq == b.model.seq && a.strategy.devices() == b.strategy.devices() && a.batch == b.batch;
      // What differs by less than 2 % is noise.
      if (!alike || a.strategy == b.strategy || std::abs(a.seconds / b.seconds - 1) < 0.02) continue;
      ++set.pairs;
      right += (a.seconds < b.seconds) == (set.rows[i].predicted < set.rows[j].predicted);
    }
  }
  if (set.pairs > 0) set.pairs_right = static_cast<double>(right) / set.pairs;
}

}  // namespace

PublishedSet timed_set(const TimedSet& of, const simulate::Csv& csv, const std::string& file, bool memory) {
  PublishedSet set;
  set.name = fmt::format("{}{}", of.name, memory ? " memory" : "");
  set.note = fmt::format("{}, by --machine {} --stack {}. {}{}", memory ? "GiB of a device" : "seconds of a step", of.machine, of.stack,
                         of.calibrating.empty() ? "Nothing is calibrated. " : "", of.note);
  simulate::Cluster cluster = with_stack(simulate::cluster_named(of.machine), stack_named(of.stack));
  if (of.node_bytes_per_second > 0) cluster.levels.back().shared_bytes_per_second = of.node_bytes_per_second;
  TimedSteps steps = timed_steps(csv, file, cluster, std::string(of.words));
  if (!memory) set.left_out = steps.left_out;
  for (TimedStep& r : steps.rows) {
    r.model.gated = r.model.gated || of.gated;
    r.model.keeps_scores = r.model.keeps_scores || of.keeps_scores;
    const Estimate e = estimate(facts_of(r.model, cluster, r.batch), r.strategy);
    if (!memory)
      set.rows.push_back({set.name, r.what, "s", r.seconds, e.seconds, std::ranges::find(of.calibrating, r.line) != of.calibrating.end()});
    else if (r.memory_bytes > 0)
      set.rows.push_back({set.name, r.what, "GiB", r.memory_bytes / kGib, e.memory_bytes() / kGib, false});
  }
  if (!memory) rank_pairs(set, steps.rows);
  return set;
}

namespace {

constexpr const char* kWholeSteps =
    "Training steps on one GPU, 2026-11-27, by the script of pando calibrate --steps (torch 2.11, CUDA 13.0); memory as allocated.";

}  // namespace

const std::vector<TimedSet>& timed_sets() {
  static const std::vector<TimedSet> all = {
      {.name = "llmfoundry_a100_80gb",
       .machine = "a100-80",
       .stack = "llmfoundry",
       .words = "zero=3 data-overlap",
       .note = "MPT under FSDP, microbatches of the table."},
      {.name = "internevo_a100",
       .machine = "a100-80",
       .stack = "internevo",
       .words = "zero=1 data-overlap",
       .note = "InternLM, whose layers are gated; nodes of the machine's file share 4 x 100 Gbit/s (shared_bytes_per_second).",
       .gated = true,
       .node_bytes_per_second = 5e10},
      {.name = "bigscience_a100",
       .machine = "jean-zay",
       .stack = "megatron-deepspeed",
       .words = "",
       .note =
           "Full recomputation, ZeRO-1, attention that keeps its scores (keeps_scores in the model's file). Pace and seconds of an op were "
           "fitted to every third row, and what heads of 108 numbers reach was chosen with one pair.",
       .keeps_scores = true,
       .calibrating = {2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47, 49, 50, 53, 56, 59, 62, 65, 68}},
      {.name = "torchtitan_a100",
       .machine = "a100-80",
       .stack = "torchtitan-eager",
       .words = "",
       .note = "64 GPUs, 2024, as torchtitan publishes them; what is computed again is in the strategy (of layers, every other one)."},
      {.name = "h100_steps_eager", .machine = "h100", .stack = "torchtitan-eager", .words = "", .note = kWholeSteps},
      {.name = "h100_steps_compiled", .machine = "h100", .stack = "torchtitan", .words = "", .note = kWholeSteps},
      {.name = "h200_steps_eager", .machine = "h200", .stack = "torchtitan-eager", .words = "", .note = kWholeSteps},
      {.name = "h200_steps_compiled", .machine = "h200", .stack = "torchtitan", .words = "", .note = kWholeSteps},
      {.name = "vocabpar_stage_times",
       .machine = "a100-80",
       .stack = "megatron-2023",
       .words = "",
       .note = "Vocabularies of up to 256,000 on eight stages; rows whose head is not on the last stage are left out."},
  };
  return all;
}

}  // namespace pando::measure
