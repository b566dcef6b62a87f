// One convolution's steps, for the functions that do one and for those that do several at a time.
#pragma once

#include "poplibs/poplin/conv/build.h"
#include "poplibs/poplin/conv/plan/plan.h"
#include "poplibs/poplin/conv/terms/options.h"

#include <poplar/OptionFlags.hpp>

namespace poplin::conv {

using poplar::DebugContext;
using poplar::Tensor;
using poplar::program::Sequence;

struct Method;

// A convolution with its options, and how it is computed.
struct Convolution {
  Convolution(poplar::Graph& graph, const ConvParams& params, Kind kind, bool flipped, const poplar::OptionFlags& flags,
              PlanningCache* cache);
  ConvParams params;
  Problem problem;
  Options options;
  const Method* method = nullptr;  // method.h
  Partition partition;

  // Moves the partition's first block: to where its tiles are least full with a new tensor of so many elements;
  void begin_where_room_is(const poplar::Graph& graph, std::size_t elements);
  // to where it lies in weights that were made for this plan, or else where room is.
  void begin_at(const poplar::Graph& graph, const Tensor& weights);
};

// Adds the vertices to `stages`, and to `before` what has to come before those. Operands have the public shapes.
void convolve_into(poplar::Graph& graph, const Convolution& c, const Tensor& in, const Tensor& weights, bool transposed, const Tensor& out,
                   Stages& stages, Sequence& before, const DebugContext& context, const FinishViews* finish = nullptr);
Tensor weight_gradient(poplar::Graph& graph, const Convolution& c, const Tensor& deltas, const Tensor& in, Stages& stages, Sequence& before,
                       const DebugContext& context);

}  // namespace poplin::conv
