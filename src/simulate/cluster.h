// A machine that programs are distributed over: devices, and a network in levels (a node, a pod, all of it). Each machine is a file of
// clusters/, with the source of every number; users give others as JSON (cluster_json.h).
#pragma once

#include "simulate/measured.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::simulate {

// A share of a peak, by size. Either points, between which it is linear over the logarithm of the size and beyond which it is constant; or
// `share` size / (size + half), where `share` is not 0. Below `from`, the smallest size that the curve was fitted to, it is constant, too.
struct Efficiency {
  std::vector<std::pair<double, double>> points{{1, 1}};
  double share = 0, half = 0, from = 0;
  double at(double size) const;
  // Of any size.
  double most() const;
  // The least of s / at(s) over all s from `size` on: no work of at least this size is done in less, at a rate of 1.
  double least_quotient(double size) const;
  friend bool operator==(const Efficiency&, const Efficiency&) = default;
};

struct NetworkLevel {
  std::string name;
  // Devices that this level joins; each unit of it has so many.
  std::int32_t devices = 1;
  // Of one device, one direction.
  double bytes_per_second = 1e9;
  // Of one message.
  double latency = 0;
  // Share of bytes_per_second, by the bytes that a device sends.
  Efficiency efficiency;
  // The devices of a unit of the level below share this many bytes a second out of it; 0: nothing is shared.
  double shared_bytes_per_second = 0;
  // Collectives that switches compute: an all-reduce moves each byte once.
  bool reduces_in_network = false;
  // Share of a device's speed that a transfer takes from what is computed beside it.
  double slowdown = 0;
  // Collectives are copies to the first device and back, one after the other, as this project's lowering makes them.
  bool through_first = false;
  friend bool operator==(const NetworkLevel&, const NetworkLevel&) = default;
};

// An op of layers that is several kernels, one after the other: the bytes that it moves over those of one kernel.
struct Unfused {
  std::string op;
  double forward = 1, backward = 1;
  friend bool operator==(const Unfused&, const Unfused&) = default;
};

// What the software of a training step decides: of a machine, and what a stack says instead (search/stack.h).
struct Software {
  // What the loss holds for each number of the head's result (logits, their gradient, copies).
  double logit_bytes = 0;
  // What the loss reads and writes for each of these numbers, forward and backward.
  double loss_bytes = 0;
  // Shares of the peak in half precision that attention without stored scores reaches where no shape was measured, if all pairs of tokens
  // count, although causality masks half.
  double attention_forward = 0, attention_backward = 0;
  // Of data parallelism that splits weights: bytes of a parameter that is gathered, and of a gradient that is reduced.
  double gather_bytes = 0, reduce_bytes = 0;
  // What kernels of their own read and write for each parameter of a device and each microbatch: where weights are split, to bring them
  // into what is gathered and reduced and out of it; and to add a gradient to those of the microbatches before.
  double shard_bytes = 0, sum_bytes = 0;
  // Ops of layers that are not one kernel; their names are those of rows of "bytewise". Two more are of products in 8-bit floats: "casts"
  // of their operands, and "casts_again": the bytes for each element of both operands, which the way back brings to 8 bits once more.
  std::vector<Unfused> unfused;
  // A layer that is computed again ends with the last number that the way back needs: its last product is left out.
  bool stops_early = false;
  friend bool operator==(const Software&, const Software&) = default;
};
// By their names in JSON.
inline constexpr std::pair<const char*, double Software::*> kSoftwareNumbers[] = {{"logit_bytes", &Software::logit_bytes},
                                                                                  {"loss_bytes", &Software::loss_bytes},
                                                                                  {"attention_forward", &Software::attention_forward},
                                                                                  {"attention_backward", &Software::attention_backward},
                                                                                  {"gather_bytes", &Software::gather_bytes},
                                                                                  {"reduce_bytes", &Software::reduce_bytes},
                                                                                  {"shard_bytes", &Software::shard_bytes},
                                                                                  {"sum_bytes", &Software::sum_bytes}};

struct Cluster : Software {
  Cluster()
      : Software{.logit_bytes = 4,
                 .loss_bytes = 16,
                 .attention_forward = 1.2,
                 .attention_backward = 0.95,
                 .gather_bytes = 2,
                 .reduce_bytes = 4,
                 .unfused = {},
                 .stops_early = false} {}

  std::string name, doc, source;
  // Operations a second: matrix products in half and single precision, everything else.
  double half_operations = 1e14, single_operations = 1e13, vector_operations = 1e13;
  // Matrix products in 8-bit floats; 0: the machine has none. Whether blocks of them have scales of their own (MX formats).
  double eight_bit_operations = 0;
  bool block_scaled = false;
  // By the operations of one product.
  Efficiency matmul_efficiency;
  // Of that, what products of heads reach whose rows are no multiple of 16 bytes.
  double unaligned = 1;
  double memory_bytes_per_second = 1e12;
  // By the bytes of one op.
  Efficiency memory_efficiency;
  std::int64_t memory_bytes = 0;
  // Of each op, before it begins.
  double launch = 0;
  // A second memory (host, Streaming Memory); 0: there is none.
  std::int64_t far_bytes = 0;
  double far_bytes_per_second = 0;
  std::vector<NetworkLevel> levels;
  // What an optimizer reads and writes for each parameter, and the host's work for each microbatch of a pipeline, which nothing hides.
  double optimizer_bytes = 42, microbatch_seconds = 0;
  // What a device costs, for searches by price; 0: unknown.
  double price_per_hour = 0;
  // What members rest on, by their names in JSON: "measured ...", "data sheet ...", "assumed ...".
  std::vector<std::pair<std::string, std::string>> provenance;
  Measured measured;
  friend bool operator==(const Cluster&, const Cluster&) = default;

  // The narrowest level at which these devices are in one unit; the last one where none is wide enough.
  std::size_t level_of(std::int64_t first, std::int64_t last) const;
};

// All rows of clusters/, by name.
const std::vector<Cluster>& clusters();
// Rejects (poplar_error) an unknown name; says which there are.
const Cluster& cluster_named(std::string_view name);

enum class Algorithm : std::uint8_t { ring, tree, hierarchical, in_network, direct };
std::string_view name_of(Algorithm a);

struct TransferTime {
  double seconds = 0;
  Algorithm algorithm = Algorithm::direct;
  // The widest level that is crossed.
  std::size_t level = 0;
};

// How a collective's devices lie: `inner` of them in each unit of `inner_level`, `outer` such units at `outer_level`.
struct Group {
  std::int64_t inner = 1, outer = 1;
  std::size_t inner_level = 0, outer_level = 0;
  // Groups that do the same at the same time from one unit, and share what it shares.
  std::int64_t beside = 1;
  std::int64_t size() const { return inner * outer; }
};
// Devices `stride` apart, beginning at `first`.
Group group_of(const Cluster& c, std::int64_t first, std::int64_t count, std::int64_t stride);

// `bytes`: of the whole tensor (all-reduce: of each device's; all-gather: of the result; reduce-scatter: of each device's operand;
// all-to-all: of each device's operand). As measured, where the machine has rows of a group that lies so; or else the quickest of the
// algorithms that the network can do.
TransferTime transfer_time(const Cluster& c, Collective what, double bytes, const Group& g);

}  // namespace pando::simulate
