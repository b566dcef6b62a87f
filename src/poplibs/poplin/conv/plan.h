// How a convolution is distributed: a grid of blocks, one on each tile.
//
// The forward pass cuts groups, batch, each output dimension, output channels and input channels; blocks that differ in input
// channels alone compute partial sums. The gradient of the weights cuts groups and channels; blocks that differ in batch or output
// dimensions compute partial sums. `serial` more cuts of the output channels follow one another in time, so that less is on a tile
// at once.
//
// A plan for the host's time cuts the first dimension of the field alone ("by row"): rows and kernel elements lie whole on a tile, and
// blocks read them there.
#pragma once

#include "poplibs/poplin/conv/options.h"
#include "poplibs/poplin/conv/problem.h"

#include <poplar/Target.hpp>
#include <poplin/PlanningCache.hpp>

#include <string>
#include <vector>

namespace poplin::conv {

enum class Kind { forward, weight_gradient };

struct Partition {
  std::int64_t groups = 1, batch = 1, out_channels = 1, in_channels = 1, serial = 1;
  std::vector<std::int64_t> field;
  bool by_row = false;     // rows of activations and kernel elements are not cut over tiles
  std::int64_t first = 0;  // tile of the first block

  std::int64_t field_blocks() const;
  std::int64_t blocks() const;  // of one serial step
  friend bool operator==(const Partition&, const Partition&) = default;
};

struct PlanCost {
  plan::Cost exchange = 0, compute = 0, reduction = 0;
  double memory = 0;  // bytes on the fullest tile
  plan::Cost total() const { return exchange + compute + reduction; }
};

struct Plan {
  Partition partition;
  PlanCost cost;  // of all serial steps; on tiles of an IPU in cycles, whatever the objective
};

// The n-th of `parts` parts of [0, size), which differ by one element at most.
Range part(std::int64_t size, std::int64_t parts, std::int64_t n);

// By row: nanoseconds that all blocks take of the host.
PlanCost cost_of(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind, const Partition& partition);

// The cheapest grid that fits, or, if none fits, the one that needs least memory. Deterministic.
Plan find_plan(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind);
// The same, from the cache if it is there.
Plan plan_for(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind, PlanningCache* cache);

std::string to_string(const Plan& plan, const Problem& problem, Kind kind);

}  // namespace poplin::conv
