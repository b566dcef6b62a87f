// How a training step is distributed, and what that costs.
#pragma once

#include "search/found.h"
#include "search/models/transformer.h"
#include "search/strategy_text.h"
#include "simulate/cluster.h"
#include "simulate/simulate.h"
#include "transform/distribute/layout/strategy.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pando::search {

// Bytes.
inline constexpr double kGib = 1024.0 * 1024 * 1024;

using transform::Precision;
using transform::Recompute;
using transform::Strategy;
using transform::TensorOverlap;
// Schedules that the closed formula knows.
enum class PipelineSchedule : std::uint8_t { one_f_one_b, zero_bubble_h1, zero_bubble_h2, zero_bubble_v };
std::string_view name_of(Recompute);
std::string_view name_of(Precision);
std::string_view name_of(PipelineSchedule);
// 1F1B where the formula does not know it: first_violation() says so.
PipelineSchedule schedule_of(const Strategy& s);

// Nothing but layers' inputs is kept.
inline bool recomputes_all(const Strategy& s) { return s.recompute == Recompute::full && s.recompute_first == 0; }
inline std::int64_t stages_of_rank(const Strategy& s) { return schedule_of(s) == PipelineSchedule::zero_bubble_v ? 2 : s.stages_per_rank; }
// Devices that have the same weights.
inline std::int64_t replicas_of(const Strategy& s) { return std::int64_t{s.data} * s.context; }

// Measured shares of the peak, by the op's shape; what is not there is the cluster's curve.
using simulate::MeasuredShapes;

// What joins parts of a layer: tensor parallelism's, context's, experts'.
enum class LayerTransfer : std::uint8_t { none, tensor, context, experts };

// One op of a layer, on one device, for one microbatch.
struct LayerOp {
  std::string_view name;
  double seconds = 0;
  LayerTransfer transfer = LayerTransfer::none;
  // Whether the time is that of a measured row, of rows near it, or of the machine's curves.
  simulate::Basis basis = simulate::Basis::assumed;
};

struct LayerCosts {
  // In order. What is seen of transfers, after overlap.
  std::vector<LayerOp> forward, input_gradient, weight_gradient, again;
  double forward_seconds = 0, input_seconds = 0, weight_seconds = 0, again_seconds = 0;
  // Of these, what no choice of transfers changes.
  double computing_seconds = 0;
  // Of the three passes, what is seen of transfers, by LayerTransfer.
  std::array<double, 4> transfer_seconds{};
  // Of all passes, by simulate::Basis.
  std::array<double, 3> basis_seconds{};
  // Kept of one microbatch for the way back, and the most that one layer's backward pass needs beside it.
  double activation_bytes = 0, working_bytes = 0;
  double seconds() const { return forward_seconds + input_seconds + weight_seconds + again_seconds; }
};

// `prices`: of this machine and these shapes, if many layers are asked about.
class PriceMemo;
LayerCosts layer_costs(const Transformer& model, const simulate::Cluster& cluster, const Strategy& s, bool with_experts = false,
                       const MeasuredShapes* shapes = nullptr, PriceMemo* prices = nullptr);
// The head and the loss, forward and backward: on the last stage.
double head_seconds(const Transformer& model, const simulate::Cluster& cluster, const Strategy& s, const MeasuredShapes* shapes = nullptr,
                    PriceMemo* prices = nullptr);

// Layers' costs of strategies that differ in what layers do not see. For one model, machine and set of shapes.
class LayerMemo {
 public:
  LayerMemo();
  ~LayerMemo();
  // Of a layer that computes so much again.
  const LayerCosts& layer(const Transformer& m, const simulate::Cluster& c, const Strategy& s, Recompute recompute, bool with_experts,
                          const MeasuredShapes* shapes);
  double head(const Transformer& m, const simulate::Cluster& c, const Strategy& s, const MeasuredShapes* shapes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What decides what a strategy does.
struct StrategyFacts {
  const Transformer& model;
  const simulate::Cluster& cluster;
  // Samples of a step.
  std::int64_t batch = 1;
  // Of this model and machine, if many strategies are asked about.
  LayerMemo* memo = nullptr;
  const MeasuredShapes* shapes = nullptr;

  std::int64_t microbatches(const Strategy& s) const { return batch / (s.data * s.microbatch); }
};
// With what was measured of the machine (shapes.h).
StrategyFacts facts_of(const Transformer& model, const simulate::Cluster& cluster, std::int64_t batch = 1, LayerMemo* memo = nullptr);

// How many layers the last rank of a pipeline has, and those before it: `more` of them (the last of them) have one more than the others.
struct Division {
  std::int64_t last = 0, others = 0, more = 0;
  friend bool operator==(const Division&, const Division&) = default;
};
// As many layers each; where they do not divide, the first ranks, which hold most activations, and the last, which has the head, have one
// less.
Division even_division(std::int64_t layers, std::int64_t ranks);
// What makes the slowest rank as quick as can be. By what no choice of transfers, of ZeRO or of offload changes.
Division weighed_division(const StrategyFacts& facts, const Strategy& s);
// By rank of the pipeline, and by stage: of a rank's stages the later ones have one layer more.
std::vector<std::int64_t> layers_of_ranks(const StrategyFacts& facts, const Strategy& s);
std::vector<std::int64_t> layers_of_stages(const StrategyFacts& facts, const Strategy& s);

// The most layers that a stage has; a rank may have several stages.
std::int64_t most_layers_of(const StrategyFacts& facts, const Strategy& s);

// When an axis is chosen: points with equal values of the first kind are a group (walk.h), in which transfers are chosen, and then
// the rest.
enum class AxisPart : std::uint8_t { group, transfers, rest };

// Of the rules of all axes that are chosen `from` then on, in their order, and of the network.
Violation first_violation(const StrategyFacts& facts, const Strategy& s, AxisPart from = AxisPart::group);

struct Estimate {
  double seconds = 0;
  // What the time is made of.
  double computing = 0, recomputing = 0, tensor_transfers = 0, context_transfers = 0, expert_transfers = 0, pipeline_transfers = 0,
         data_transfers = 0, bubble = 0, optimizer = 0, head = 0, host = 0, offload = 0;
  // Weights and gradients that kernels of their own copy and add; a part of `computing`.
  double copies = 0;
  // Ranks of a pipeline that have ended wait for those that have not, and for the norm of all gradients.
  double synchronisation = 0;
  // On the fullest device, by kind; and which stage that is.
  std::array<double, simulate::kMemoryKinds> memory{};
  std::int64_t fullest_stage = 0;
  // Of the slowest rank's layers: shares of their time by simulate::Basis; they add up to 1.
  std::array<double, 3> basis{};
  // Of the second memory, the most that a device uses.
  double far_bytes = 0;
  bool fits(double memory, const simulate::Cluster& c) const {
    return memory_bytes() <= memory && far_bytes <= static_cast<double>(c.far_bytes);
  }
  double memory_bytes() const {
    double sum = 0;
    for (double m : memory) sum += m;
    return sum;
  }
};

// The strategy must be without violations. With a `limit` of a device's bytes, of what does not fit the memory alone.
Estimate estimate(const StrategyFacts& facts, const Strategy& s, std::optional<double> limit = std::nullopt);

}  // namespace pando::search
