// How element-wise work is spread over tiles and workers.
#pragma once

#include <poplar/Graph.hpp>

#include <vector>

namespace popnn::internal {

struct ElementPart {
  unsigned tile = 0;
  std::vector<std::vector<poplar::Interval>> regions;  // of the flat tensor; each is contiguous in memory
};

// The parts of a flat tensor, every one for one vertex, where its elements are.
std::vector<ElementPart> spread_elements(const poplar::Graph& graph, const poplar::Tensor& flat);

// The tensors flat, and all reordered in the same way, so that the last lies in as few runs as possible.
std::vector<poplar::Tensor> in_order_of_last(const poplar::Graph& graph, std::vector<poplar::Tensor> tensors);

// Do so many tiles hold elements of `t`, and evenly, that work should be done there? If not, a new tensor should be mapped linearly.
bool is_well_spread(const poplar::Graph& graph, const poplar::Tensor& t);

// A new tensor like `t`: it lies like `t` if that is well spread, linearly otherwise.
poplar::Tensor add_result_like(poplar::Graph& graph, const poplar::Tensor& t, const poplar::DebugContext& debug);

}  // namespace popnn::internal
