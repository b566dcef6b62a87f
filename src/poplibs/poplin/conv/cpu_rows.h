// Convolutions on the CPU device, whose one tile holds everything: images are read where they lie, and the work is cut into rows of the
// result by shape alone. Halfs are computed in float and rounded once.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <ostream>
#include <vector>

#include "poplibs/poplin/conv/finish.h"
#include "poplibs/poplin/conv/terms/options.h"
#include "poplibs/poplin/conv/terms/problem.h"

namespace poplin::conv {

// Up to two dimensions, one group, an input that is not dilated, rows enough for all workers; and not asked for otherwise: `pando.inRows`,
// `planConstraints`.
bool is_in_rows(const Problem& problem, const Options& options, const poplar::Target& target);

// A variable for the input, of the public shape. Pictures of a few channels lie as hosts have them; else a pixel's channels lie together.
poplar::Tensor make_image(poplar::Graph& graph, const ConvParams& params, const poplar::DebugContext& context);

// Whether all views of an epilogue that are valid lie in the order of the results, in one piece.
bool can_finish_in_rows(const FinishViews& finish);

// Views as problem.h gives them. Vertices that write all of `out` go to `set`; copies of operands and results that lie in another order go
// before and after.
void convolve_in_rows(poplar::Graph& graph, const Problem& problem, const Options& options, const poplar::Tensor& in,
                      const poplar::Tensor& weights, const poplar::Tensor& out, poplar::ComputeSet set, poplar::program::Sequence& before,
                      poplar::program::Sequence& after, const poplar::DebugContext& context, const FinishViews* finish = nullptr);

void print_in_rows(std::ostream& out, const Problem& problem, const Options& options);

}  // namespace poplin::conv
