// The best strategy for a program: any step of training or inference of the model level. Every point of the space is what the transforms
// can make of the program, so the winner is a program that runs.
//
//     const ProgramResult r = search_program(program, cluster, {.devices = 4});
//     ir::Module winner = transform::parallelise(program, r.best[0].strategy).module;
//
// A point is judged by making it: the program is transformed, and what comes out is simulated on the cluster. Points with equal degrees,
// microbatches, stages, schedule and cuts are a group; before one is made, a bound is known: each op, in as many parts as the group's
// layout cuts it, at the efficiency that the machine has for the part, with transfers for nothing; each rank of a pipeline waits for the
// first microbatch to come through the stages before it, and works for all. Inside a group, recomputing and off-chip memory take no less
// computing than going without, and another order of devices takes as much. Of a point's memory a bound is known, too (least_memory.h). So
// every point is either made or excluded by a bound or a rule of the transforms.
#pragma once

#include "search/programs/least_memory.h"
#include "search/report.h"
#include "search/space.h"
#include "search/strategy.h"
#include "simulate/costs/cost_model.h"
#include "transform/distribute/parallelise.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pando::search {

struct ProgramEstimate {
  double seconds = 0;
  // Of the device that computes longest, and of the one that transfers longest.
  double computing = 0, transferring = 0;
  std::int32_t busiest = 0, fullest = 0;
  // On the fullest device.
  std::int64_t peak = 0;
  simulate::KindBytes at_peak{};
  // What runs on whole operands, and why.
  std::vector<transform::RunsWhole> whole;
  double memory_bytes() const { return static_cast<double>(peak); }
};

using FoundProgram = FoundOf<ProgramEstimate>;

using ProgramResult = ResultOf<ProgramEstimate>;

// `costs` says what each op takes on `cluster`; null: the cluster's own model.
ProgramResult search_program(const transform::Program& program, const simulate::Cluster& cluster, const Space& space,
                             const SearchOptions& options = {}, const simulate::CostModel* costs = nullptr);

// Time and memory of one point; with `made`, of so many of its microbatches. `layout`: what lay_out() makes of it, if that is known. Where
// devices with equal parts take equal times (one_rank.h), one of them is made for all. Rejects what parallelise() rejects.
ProgramEstimate estimate_program(const transform::Program& program, const Strategy& strategy, const simulate::Cluster& cluster,
                                 const simulate::CostModel* costs = nullptr, std::int32_t made = 0,
                                 const transform::Layout* layout = nullptr);
// What no estimate of the strategy is below; 0 for strategies that the transforms reject.
double least_program_seconds(const transform::Program& program, const Strategy& strategy, const simulate::CostModel& costs);

// What the fullest device holds at the least. Rejects what parallelise() rejects.
LeastMemory least_program_memory(const transform::Program& program, const Strategy& strategy);

// Why a strategy is not the answer: the rule that it breaks; the device and the bytes that it lacks; or how much slower it is, and where.
std::string why_not(const transform::Program& program, const simulate::Cluster& cluster, const Space& space, const Strategy& s,
                    const ProgramResult& result, const simulate::CostModel* costs = nullptr);

Report report_of(const ProgramResult& result);

}  // namespace pando::search
