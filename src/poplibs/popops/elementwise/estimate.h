// What element-wise vertices cost on an IPU's tile, roughly.
#pragma once

#include "kernels/elementwise/elementwise.h"
#include "poplibs/codelet_file.h"

namespace popops::internal {

// Cycles of one element, times 256 (integers stay exact on every host).
unsigned cost_of(pando::kernels::Unary op, pando::kernels::Type type);
unsigned cost_of(pando::kernels::Binary op, pando::kernels::Type type);
// Of vertices with fields `out` and `op`, for each type that they are made for: functions of so many operands.
pando::poplibs::Estimates estimates_of_functions(const std::string& vertex, unsigned operands);
// Of a program's words, for each element: cycles as above, and floating-point operations.
struct ProgramCost {
  std::uint64_t cycles = 0, flops = 0;
};
ProgramCost cost_of_program(const std::vector<unsigned>& code);
// Of a worker that runs a program on so many elements in so many rows.
poplar::VertexPerfEstimate estimate_of_program(const ProgramCost& cost, std::uint64_t elements, std::uint64_t rows);
// popops::Map and popops::MapInPlace.
poplar::VertexPerfEstimate estimate_program(const poplar::VertexIntrospector& vertex, const poplar::Target& target);

struct Dag;
// Of a vertex that computes the graph for so many elements in so many rows.
poplar::VertexPerfEstimate estimate_dag(const Dag& dag, std::size_t elements, std::size_t rows);

}  // namespace popops::internal
