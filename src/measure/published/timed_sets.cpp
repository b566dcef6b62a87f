// Sets whose tables say all that defines a run: read as pando fit reads a user's. Nothing is fitted to any of their rows.
#include "measure/published/sets.h"
#include "search/fit/timed_steps.h"
#include "search/shapes.h"
#include "search/stack.h"

#include <fmt/format.h>

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
                         a.model.seq == b.model.seq && a.strategy.devices() == b.strategy.devices() && a.strategy.batch == b.strategy.batch;
      // What differs by less than 2 % is noise.
      if (!alike || a.strategy == b.strategy || std::abs(a.seconds / b.seconds - 1) < 0.02) continue;
      ++set.pairs;
      right += (a.seconds < b.seconds) == (set.rows[i].predicted < set.rows[j].predicted);
    }
  }
  if (set.pairs > 0) set.pairs_right = static_cast<double>(right) / set.pairs;
}

}  // namespace

PublishedSet timed_set(const TimedSet& of, const simulate::Csv& csv, const std::string& file) {
  PublishedSet set;
  set.name = of.name;
  set.note = fmt::format("seconds of a step, by --machine {} --stack {}. Nothing is calibrated. {}", of.machine, of.stack, of.note);
  const simulate::Cluster cluster = with_stack(simulate::cluster_named(of.machine), stack_named(of.stack));
  TimedSteps steps = timed_steps(csv, file, cluster, std::string(of.words));
  set.left_out = steps.left_out;
  for (TimedStep& r : steps.rows) {
    r.model.gated = r.model.gated || of.gated;
    const double predicted = estimate({r.model, cluster, nullptr, measured_shapes_of(cluster)}, r.strategy).seconds;
    set.rows.push_back({set.name, r.what, "s", r.seconds, predicted, false});
  }
  rank_pairs(set, steps.rows);
  return set;
}

const std::vector<TimedSet>& timed_sets() {
  static const std::vector<TimedSet> all = {
      {"llmfoundry_a100_80gb", "a100-80", "fsdp", "zero=3 data-overlap", "MPT under FSDP, microbatches of the table.", false},
      {"internevo_a100", "a100-80", "megatron", "zero=1 data-overlap", "InternLM, whose layers are gated; 4 x 100 Gbit/s a node.", true},
      {"bigscience_a100", "jean-zay", "megatron", "", "Megatron-DeepSpeed, full recomputation, ZeRO-1.", false},
      {"vocabpar_stage_times", "a100-80", "megatron", "",
       "Vocabularies of up to 256,000 on eight stages; rows whose head is not on the last stage are left out.", false},
  };
  return all;
}

}  // namespace pando::measure
