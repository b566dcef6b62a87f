// Convolutions on the CPU device, whose one tile holds everything: images are read where they lie, and the work is cut into rows of the
// result by shape alone. Halfs are computed in float and rounded once.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <ostream>
#include <vector>

#include "poplibs/poplin/conv/options.h"
#include "poplibs/poplin/conv/problem.h"
#include "poplibs/poplin/epilogue.h"

namespace poplin::conv {

// Up to two dimensions, one group, an input that is not dilated, rows enough for all workers; and not asked for otherwise: `pando.inRows`,
// `planConstraints`.
bool is_in_rows(const Problem& problem, const Options& options, const poplar::Target& target);

// A variable for the input, of the public shape. Pictures of a few channels lie as hosts have them; else a pixel's channels lie together.
poplar::Tensor make_image(poplar::Graph& graph, const ConvParams& params, const poplar::DebugContext& context);

// An epilogue of vertices: all its tensors that are not rows or numbers as views that problem.h gives of results. The first result is `out`
// of the convolution.
struct FinishInRows {
  const internal::Finish* finish;
  std::vector<poplar::Tensor> matrices;  // the operands; invalid for others than matrices
  std::vector<poplar::Tensor> more;      // results
};
// Whether all its tensors that are valid lie in the order of the results, in one piece, and all elements of results of that shape are
// computed: no zeros are around them.
bool can_finish_in_rows(const FinishInRows& finish, const Problem& problem, const std::vector<std::size_t>& shape);

// Views as problem.h gives them. Vertices that write all of `out` go to `set`; copies of operands and results that lie in another order go
// before and after.
void convolve_in_rows(poplar::Graph& graph, const Problem& problem, const Options& options, const poplar::Tensor& in,
                      const poplar::Tensor& weights, const poplar::Tensor& out, poplar::ComputeSet set, poplar::program::Sequence& before,
                      poplar::program::Sequence& after, const poplar::DebugContext& context, const FinishInRows* finish = nullptr);

void print_in_rows(std::ostream& out, const Problem& problem, const Options& options);

}  // namespace poplin::conv
