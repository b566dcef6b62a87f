// Group norms of one group on the CPU device: rows that lie whole on its one tile are normalised in one pass.
#pragma once

#include <array>

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace popnn::internal {

// Activations {rows, columns} of floats, each row in one piece, with statistics of one group; and the CPU target.
bool are_rows(const poplar::Graph& graph, const poplar::Tensor& acts, std::size_t groups);

// {normalised, mean, inverse}
std::array<poplar::Tensor, 3> normalise_rows(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gamma,
                                             const poplar::Tensor& beta, float eps, poplar::program::Sequence& prog,
                                             const poplar::DebugContext& debug);
// Of {activations, gamma, beta}.
std::array<poplar::Tensor, 3> gradients_of_rows(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gradients,
                                                const poplar::Tensor& mean, const poplar::Tensor& inverse, const poplar::Tensor& gamma,
                                                poplar::program::Sequence& prog, const poplar::DebugContext& debug);

}  // namespace popnn::internal
