// Softmaxes and their gradient along the last dimension.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace popnn::internal {

struct SoftmaxForm {
  float scale = 1;   // the result is multiplied with
  bool log = false;  // log-softmax
};

// Of FLOAT or HALF tensors with at least one dimension; others are the caller's to reject.
void softmax_in_place(poplar::Graph& graph, const poplar::Tensor& t, SoftmaxForm form, poplar::program::Sequence& prog,
                      const poplar::DebugContext& debug);
poplar::Tensor softmax(poplar::Graph& graph, const poplar::Tensor& t, SoftmaxForm form, poplar::program::Sequence& prog,
                       const poplar::DebugContext& debug);
// `act` is the softmax.
poplar::Tensor softmax_gradient(poplar::Graph& graph, const poplar::Tensor& act, const poplar::Tensor& gradient,
                                poplar::program::Sequence& prog, const poplar::DebugContext& debug);

}  // namespace popnn::internal
