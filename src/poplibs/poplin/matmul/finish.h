// Epilogues of products in the order of a layout.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <vector>

#include "poplibs/poplin/epilogue.h"
#include "poplibs/poplin/matmul/terms/layout.h"

namespace poplin::internal::matmul {

// Operands that are matrices, and the results, are flat.
struct FlatFinish {
  const Finish& finish;
  std::vector<poplar::Tensor> operands, results;
};
FlatFinish flat_finish(const Finish& finish, const Layout& layout, const std::vector<poplar::Tensor>& results);

// The sum of the partials, finished where the first result has it. All are flat, in the layout's order, of floats.
void add_up_and_finish(poplar::Graph& graph, const std::vector<poplar::Tensor>& partials, const Layout& layout, const FlatFinish& finish,
                       poplar::program::Sequence& prog, const poplar::DebugContext& debug);

}  // namespace poplin::internal::matmul
