// Vertices and variables of a planned reduction.
#pragma once

#include <poplar/Graph.hpp>

#include "poplibs/popops/elementwise/finish.h"
#include "poplibs/popops/reduce/plan.h"
#include "popops/Reduce.hpp"

namespace popops::internal {

// What vertices do with results of a reduction. Matrices and results, but for the first, which is the reduction's, are flat like its
// output.
struct ReductionFinish {
  Finish finish;
  std::vector<poplar::Tensor> operands, more;
};

struct Reduction {
  poplar::Tensor in;   // flat, in the order that the plan is about
  poplar::Tensor out;  // likewise
  poplar::Type partial_type;
  ReduceParams params;
  const ReductionFinish* finish = nullptr;
};

// Where the plan computes each output.
poplar::Graph::TileToTensorMapping output_mapping(const ReductionPlan& plan, unsigned tiles);

// Adds stage i to css[i]; appends compute sets that are missing.
void build_reduction(poplar::Graph& graph, const Reduction& reduction, const ReductionPlan& plan, std::vector<poplar::ComputeSet>& css,
                     const poplar::DebugContext& context);

}  // namespace popops::internal
