// Products on the CPU device, whose one tile holds everything: operands are multiplied where they lie, and the work is cut into
// vertices by shape alone.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <ostream>
#include <vector>

#include "poplibs/poplin/epilogue.h"
#include "poplibs/poplin/matmul/terms/plan.h"

namespace poplin::internal::matmul {

// A variable on the one tile.
poplar::Tensor variable_on_cpu(poplar::Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& shape,
                               const poplar::DebugContext& debug);

// Parts of one group's product; with several parts of k their sums are added up afterwards.
struct CpuCut {
  std::size_t m = 1, n = 1, k = 1;                    // parts
  std::size_t m_block = 1, n_block = 1, k_block = 1;  // the last may be smaller
};
// `turned`: A's columns follow each other in memory, so that its rows have to be brought together.
CpuCut cut_for_cpu(const Problem& problem, bool turned = false);

// out = A * B, or out += scale * A * B if `scale` is valid; shapes {groups, m, k}, {groups, k, n}, {groups, m, n}.
void multiply_on_cpu(poplar::Graph& graph, const Problem& problem, const poplar::Tensor& a, const poplar::Tensor& b,
                     const poplar::Tensor& out, const poplar::Tensor& scale, poplar::program::Sequence& prog,
                     const poplar::DebugContext& debug);

// outs[0] holds A * B on the way, all outs the epilogue's results: {groups, m, n}, made where they are invalid. False, with nothing done,
// where vertices cannot do it.
bool multiply_and_finish_on_cpu(poplar::Graph& graph, const Problem& problem, const poplar::Tensor& a, const poplar::Tensor& b,
                                const Finish& finish, std::vector<poplar::Tensor>& outs, poplar::program::Sequence& prog,
                                const poplar::DebugContext& debug);

void print_on_cpu(std::ostream& out, const Problem& problem);

}  // namespace poplin::internal::matmul
