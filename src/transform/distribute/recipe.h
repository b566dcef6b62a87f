// The program of one microbatch on each stage, as steps that are instantiated for every microbatch and rank: what is per device is built
// once.
#pragma once

#include "ir/module.h"
#include "transform/distribute/layout/layout.h"
#include "transform/distribute/stages/stages.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pando::transform {

// Which value, and how it lies.
struct Place {
  ir::ValueId value;
  Specs specs;
  std::int32_t stage = 0;
  bool each = false;
  // An input of the main graph, or, off chip, a variable.
  bool input = false;
};

// A value as it lies on one stage: on every rank of it, and for every microbatch where `each` says so.
struct Located : Place {
  // By rank, where it lies off chip: a row for each microbatch.
  std::vector<ir::BufferId> buffers;
  ir::Shape shape;  // of a part
  // None where the first rank is written alone.
  ir::NameId name{0};
  std::vector<ir::TypeId> types;  // by rank
};

struct Step {
  enum Kind : std::uint8_t {
    plain,       // an op on each rank
    collective,  // an op for each group along `axis`
    send,        // to another stage
    accumulate,  // operand 0 to the running sum in result 0
    append,      // operand 0 behind what there is in result 0
    join,        // all microbatches of operand 0 along `dim`
    load_row,    // result 0 from operand 0's buffers
    store_row,   // operand 0 into result 0's buffers
  };
  Kind kind = plain;
  ir::OpKind op;
  bool in_place = false;
  // Before the first microbatch, for all of them.
  bool for_all = false;
  // On the first rank alone.
  bool first_rank = false;
  Axis axis = kData;
  std::int32_t dim = 0;
  ir::LocationId location;
  // One for all ranks, or one for each; or those of all ranks for each microbatch.
  std::vector<ir::AttributesId> attributes;
  std::vector<std::uint32_t> operands, results;
};

enum class Segment : std::uint8_t { before, forward, backward, weights, behind };
inline constexpr std::size_t kSegments = 5;

struct Recipe {
  std::vector<Located> located;
  std::vector<std::uint32_t> inputs;  // those that are inputs of the main graph
  // Of all stages, in order.
  std::vector<Step> before, behind;
  // By stage.
  std::vector<std::array<std::vector<Step>, kSegments>> cells, sends;
  // Of each stream that is loaded: the located values that it brings, and the devices' streams.
  struct Load {
    ir::HostStreamId stream;
    std::uint32_t located = 0;
    std::vector<ir::HostStreamId> by_rank;
  };
  std::vector<Load> loads;
  // By output and final of the sequential program.
  std::vector<std::vector<std::uint32_t>> outputs, updated_inputs;
};

struct Mesh {
  std::array<std::int64_t, kAxes> sizes{1, 1, 1, 1, 1};
  std::int32_t first_device = 1;
  // How far apart the devices of neighbouring pipeline ranks are, and what a rank of the other axes adds.
  std::int32_t pipeline_stride = 1;
  std::vector<std::int32_t> offset_of_rank;
  std::vector<std::int32_t> rank_of_stage;
  // Ops are written for the first rank alone, in place of all.
  bool first_alone = false;

  std::int64_t ranks() const { return sizes[kData] * sizes[kExpert] * sizes[kContext] * sizes[kTensor]; }
  // For how many ranks types, attributes and ops are made.
  std::int64_t written() const { return first_alone ? 1 : ranks(); }
  // How far apart neighbours along an axis are, counted in ranks.
  std::int64_t stride(Axis axis) const {
    std::int64_t s = 1;
    for (std::size_t a = axis + 1; a <= kTensor; ++a) s *= sizes[a];
    return s;
  }
  std::int64_t coordinate(std::int64_t rank, Axis axis) const { return rank / stride(axis) % sizes[axis]; }
  std::int32_t device(std::int32_t stage, std::int64_t rank) const {
    return first_device + offset_of_rank[static_cast<std::size_t>(rank)] + pipeline_stride * rank_of_stage[static_cast<std::size_t>(stage)];
  }
};

// Adds types, names and attributes to `out`, no ops.
Recipe make_recipe(const Program& program, const Strategy& strategy, const Layout& layout, const Stages& stages, const Mesh& mesh,
                   bool splits_backward, ir::Module& out);

// Rows off chip for a located value: one buffer for each rank.
void add_buffers(Located& x, std::int64_t rows, ir::Module& out);

// Activations that the backward pass takes go off chip between their uses (offload.cpp).
void offload_activations(Recipe& recipe, const Mesh& mesh, ir::Module& out);

// First element, in each dimension, of the part of a rank and a microbatch.
ir::Shape start_of(const ir::Shape& whole, const Specs& specs, const Mesh& mesh, std::int64_t rank, std::int64_t microbatch);

}  // namespace pando::transform
