// From an expression's graph to the words that kernels/elementwise/elementwise_program.h evaluates.
#pragma once

#include "dag.h"

namespace popops::internal {

// An operand that vertices read, as the program has to know it.
struct ProgramOperand {
  poplar::Type type;
  int in_place = -1;  // the result whose elements it shares: it is read from there
};

// The words, with the places of what each vertex fills in.
struct Program {
  std::vector<std::uint32_t> words;
  std::vector<int> operands;  // per listed operand, its index among the ProgramOperands
  // Words that a vertex sets: of listed operand i, and of output o.
  std::size_t operand_at(std::size_t i) const;
  std::size_t output_at(std::size_t o) const;
};

// Writes the program of a graph over these operands. Empty if it needs more places than an instruction can name.
std::optional<Program> write_program(const Dag& dag, const std::vector<ProgramOperand>& operands);

}  // namespace popops::internal
