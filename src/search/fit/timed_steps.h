// Steps of training that somebody timed, as a table: what ran, on how many devices, how long it took.
#pragma once

#include "search/strategy.h"
#include "simulate/csv.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pando::search {

struct TimedStep {
  // "llama3-8b t=2 p=4 d=8 b=1".
  std::string what;
  // Of the table.
  std::size_t line = 0;
  Transformer model;
  Strategy strategy;
  // Samples.
  std::int64_t batch = 0;
  double seconds = 0;
  // Of the fullest device; 0: the table does not say.
  double memory_bytes = 0;
};

struct TimedSteps {
  std::vector<TimedStep> rows;
  // Rows that the model cannot express, each with the reason.
  std::vector<std::string> left_out;
};

// The columns, of which a table has some:
//
//     model                              a name or a config.json, where there are no sizes
//     layers, hidden, heads, kv_heads, ffn, vocab, seq
//     strategy                           Pando's words, or a trainer's settings; instead of it
//     tp, pp, dp, cp, ep, interleave, microbatch_size, zero, recompute (none, selective or attention, alternate, full), precision
//     gpus, global_batch                 dp follows from gpus where it is not there; global_batch from `microbatches`
//     step_s, or step_ms, tokens_per_s_per_gpu, tokens_per_s, samples_per_s; each also with _measured behind
//     memory_GiB                         of the fullest device; not needed
//     out_of_memory, method              rows that ran out of memory, or by another method than "baseline", are left out
//
// `words`: of a strategy, which rows do not say. A name in a trainer's style of the same meaning will do for a column: see kAliases.
// Rejects (poplar_error, id timed-steps or csv) tables without what is needed, and cells that are not understood.
TimedSteps timed_steps(const simulate::Csv& csv, const std::string& file, const simulate::Cluster& cluster, const std::string& words = "");

}  // namespace pando::search
