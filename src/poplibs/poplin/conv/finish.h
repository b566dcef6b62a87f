// Epilogues of convolutions (poplin/Epilogue.hpp), as the builders see them.
#pragma once

#include "poplibs/poplin/conv/plan/grid.h"
#include "poplibs/poplin/epilogue.h"

#include <poplar/Graph.hpp>

#include <vector>

namespace poplin::conv {

// All tensors of an epilogue that are not rows or numbers, as views that problem.h gives of results. The first result is that of the
// convolution.
struct FinishViews {
  const internal::Finish* finish;
  std::vector<poplar::Tensor> matrices;  // the operands; invalid for others than matrices
  std::vector<poplar::Tensor> more;      // results
};

// Whether all elements of results of that shape are computed: no zeros are around them.
bool computes_all(const Problem& problem, const std::vector<std::size_t>& shape);

// What an epilogue has of a block's box of the result, flat, of all groups: operands and further results. Of operands that are rows, those
// of the first group.
struct FinishedBox {
  std::vector<poplar::Tensor> operands, more;
  std::size_t channels = 0;
};
FinishedBox finished_box(const FinishViews& finish, const Problem& problem, const Block& block, const std::vector<Range>& ranges);

// Sets the fields of an epilogue of the vertex that computes a block: its box of the result is `ranges`.
void connect_finish(poplar::Graph& graph, const poplar::VertexRef& vertex, const FinishViews& finish, const Problem& problem,
                    const Block& block, const std::vector<Range>& ranges);

}  // namespace poplin::conv
