// A convolution without transforms: what the planner and the builders work on, and the caller's tensors as they see them.
#pragma once

#include "planning/convolution.h"
#include "poplibs/poplin/conv/terms/line.h"

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>
#include <poplin/ConvParams.hpp>

#include <vector>

namespace poplin::conv {

using Problem = pando::planning::Convolution;

inline std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

// `flipped`: the kernel's elements come in reverse order. Throws poplibs_error for more than six field dimensions.
Problem problem_of(const ConvParams& params, bool flipped = false);

// Views without what the transforms leave out. Shapes are {groups, batch, lines..., channels} and {groups, lines..., in, out}.
//
// `in`: {batch, groups * in channels, field...}.
poplar::Tensor input_view(const poplar::Tensor& in, const ConvParams& params, const Problem& problem);
// `weights`: {groups, out channels, in channels, kernel...}, or, `transposed`, {groups, in channels, out channels, kernel...} in
// reverse order of the kernel's elements.
poplar::Tensor weights_view(const poplar::Tensor& weights, const ConvParams& params, const Problem& problem, bool transposed = false);
// `out`: {batch, groups * out channels, field...}: without the output's padding.
poplar::Tensor output_view(const poplar::Tensor& out, const ConvParams& params, const Problem& problem);

// Throw poplibs_error, naming `function`, unless the tensor has the shape and type of the input (output, weights).
void expect_input(const poplar::Tensor& in, const ConvParams& params, const char* function);
void expect_weights(const poplar::Tensor& weights, const ConvParams& params, bool transposed, const char* function);
void expect_output(const poplar::Tensor& out, const ConvParams& params, const char* function);
// The gradient of the output as tensor of the input's type, which it has or which it is cast to: the backward pass takes it as its input.
poplar::Tensor expect_deltas(poplar::Graph& graph, const poplar::Tensor& deltas, const ConvParams& params, poplar::program::Sequence& prog,
                             const poplar::DebugContext& context, const char* function);

}  // namespace poplin::conv
