// From a plan to variables, vertices and programs.
#pragma once

#include "poplibs/poplin/conv/finish.h"
#include "poplibs/poplin/conv/plan/plan.h"
#include "poplibs/poplin/conv/terms/problem.h"

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <vector>

namespace poplin::conv {

// Compute sets by depth: what several convolutions do at a time goes into the same ones.
class Stages {
 public:
  Stages(poplar::Graph& graph, const poplar::DebugContext& context) : graph_(graph), context_(context) {}
  poplar::ComputeSet at(std::size_t depth);
  poplar::program::Sequence& after() { return after_; }  // what comes when all are done
  void add_to(poplar::program::Sequence& prog) const;

 private:
  poplar::Graph& graph_;
  const poplar::DebugContext& context_;
  std::vector<poplar::ComputeSet> sets_;
  poplar::program::Sequence after_;
};

// Variables of the public shapes that lie where the plan wants them.
poplar::Tensor make_input(poplar::Graph& graph, const ConvParams& params, const Problem& problem, const Partition& cut,
                          const poplar::DebugContext& context);
poplar::Tensor make_weights(poplar::Graph& graph, const ConvParams& params, const Problem& problem, const Partition& cut,
                            const poplar::DebugContext& context);
poplar::Tensor make_output(poplar::Graph& graph, const ConvParams& params, const Problem& problem, const Partition& cut,
                           const poplar::DebugContext& context);
// For the result of the gradient of the weights.
poplar::Tensor make_weight_gradient(poplar::Graph& graph, const ConvParams& params, const Problem& problem, const Partition& cut,
                                    const poplar::DebugContext& context);

// Views as problem.h gives them; `out` is written whole. An epilogue is of floats.
void build_forward(poplar::Graph& graph, const Problem& problem, const Options& options, const Partition& cut, const poplar::Tensor& in,
                   const poplar::Tensor& weights, const poplar::Tensor& out, Stages& stages, const poplar::DebugContext& context,
                   const FinishViews* finish = nullptr);
void build_weight_gradient(poplar::Graph& graph, const Problem& problem, const Options& options, const Partition& cut,
                           const poplar::Tensor& in, const poplar::Tensor& deltas, const poplar::Tensor& out, Stages& stages,
                           const poplar::DebugContext& context);

}  // namespace poplin::conv
