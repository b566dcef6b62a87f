#include "epilogue.h"

#include <algorithm>

#include "estimate.h"
#include "kernels/elementwise/elementwise_matrix.h"
#include "program_writer.h"

namespace popops::internal {

std::optional<EpilogueProgram> epilogue_program(const std::vector<expr::Any>& results, const poplar::Type& type, std::size_t operands,
                                                std::size_t product, const std::string& where) {
  std::vector<const expr::Expr*> expressions;
  for (const expr::Any& e : results) expressions.push_back(&static_cast<const expr::Expr&>(e));
  const Dag dag = build_dag(expressions, std::vector<poplar::Type>(operands, type), true, where);
  for (const int r : dag.results)
    if (dag.nodes[static_cast<std::size_t>(r)].type != type) return {};
  std::vector<ProgramOperand> listed(operands, {type});
  listed[product].in_place = 0;
  const std::optional<Program> program = write_program(dag, listed);
  const std::size_t most = pando::kernels::kMostEpilogueMatrices;
  if (!program || program->words.size() > pando::kernels::kMostEpilogueWords || program->operands.size() > most || results.size() > most)
    return {};
  EpilogueProgram out;
  out.words.assign(program->words.begin(), program->words.end());
  out.operands.assign(program->operands.begin(), program->operands.end());
  return out;
}

poplar::VertexPerfEstimate epilogue_cost(const std::vector<unsigned>& words, std::size_t elements, unsigned workers) {
  const ProgramCost cost = cost_of_program(words);
  const std::uint64_t share = (elements + workers - 1) / workers;
  return {workers * estimate_of_program(cost, share, 1).cycles, cost.flops * elements};
}

}  // namespace popops::internal
