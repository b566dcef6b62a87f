// Copies into tensors that may hold an element several times.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

namespace poputil::internal {

struct CopyOperands {
  poplar::Tensor source, destination;
};

// What to copy so that `destination`, a clone of `source` with the same aliases or fewer, gets all its elements: each once.
CopyOperands copy_operands(const poplar::Graph& graph, const poplar::Tensor& source, const poplar::Tensor& destination);

}  // namespace poputil::internal
