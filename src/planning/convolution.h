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

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/cost_model.h"
#include "planning/line.h"

namespace pando::planning {

// Its transforms are in the lines.
struct Convolution {
  ElementType in_type = ElementType::float_, out_type = ElementType::float_;
  std::int64_t groups = 1, batch = 1, in_channels = 1, out_channels = 1;
  std::vector<Line> lines;  // at least one

  std::int64_t taps() const;
  // Multiplications and additions.
  std::uint64_t flops() const;
};

enum class ConvolutionKind { forward, weight_gradient };

struct Partition {
  std::int64_t groups = 1, batch = 1, out_channels = 1, in_channels = 1, serial = 1;
  std::vector<std::int64_t> field;
  bool by_row = false;     // rows of activations and kernel elements are not cut over tiles
  std::int64_t first = 0;  // tile of the first block

  std::int64_t field_blocks() const;
  std::int64_t blocks() const;  // of one serial step
  friend bool operator==(const Partition&, const Partition&) = default;
};

// Numbers of parts that a plan must have; 0: free.
struct PartitionConstraints {
  unsigned groups = 0, batch = 0, out_channels = 0, in_channels = 0, serial = 0;
  std::vector<unsigned> field;
  friend auto operator<=>(const PartitionConstraints&, const PartitionConstraints&) = default;
};

struct ConvolutionOptions {
  double memory_proportion = 0.6;  // of a tile's memory
  bool half_partials = false;
  std::optional<Objective> objective;  // else cycles; host_time on the CPU device
  PartitionConstraints constraints;
};

struct ConvolutionCost {
  Cost exchange = 0, compute = 0, reduction = 0;
  double memory = 0;  // bytes on the fullest tile
  Cost total() const { return exchange + compute + reduction; }
};

struct ConvolutionPlan {
  Partition partition;
  ConvolutionCost cost;  // of all serial steps; on tiles of an IPU in cycles, whatever the objective
};

// Blocks that work at the same time: one a tile; vertices of the one tile of the CPU device.
std::int64_t places_of(const Machine& machine, const Host& host = {});

// By row: nanoseconds that all blocks take of the host.
ConvolutionCost cost_of(const Convolution& problem, ConvolutionKind kind, const ConvolutionOptions& options, const Partition& partition,
                        const Machine& machine, const Host& host = {});

// The cheapest grid that fits, or, if none fits, the one that needs least memory. Deterministic. Nothing, if the constraints ask for more
// blocks than there are places.
std::optional<ConvolutionPlan> plan_convolution(const Convolution& problem, ConvolutionKind kind, const ConvolutionOptions& options,
                                                const Machine& machine, const Host& host = {});

std::string to_string(const Convolution& problem, ConvolutionKind kind, const ConvolutionPlan& plan);

}  // namespace pando::planning
