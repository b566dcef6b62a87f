#include "poplibs/poplin/matmul/blocked.h"

#include <pando/placing.hpp>

#include "poplibs/poplin/matmul/begin.h"
#include "poplibs/poplin/matmul/method.h"

namespace poplin::internal::matmul {
namespace {

poplar::Tensor create_in_blocks(const Call& c, Matrix matrix, const Shape& shape, const poplar::DebugContext& debug) {
  const poplar::Type& type = matrix == Matrix::result ? c.problem.output : c.problem.input;
  const Blocks blocks = blocks_of(shape[0], shape[1], shape[2], c.graph.getTarget().getNumTiles());
  poplar::Graph there = pando::rotated(c.graph, rotation_of_new(c.graph, blocks, type));
  const poplar::Tensor made = create_blocked(there, type, blocks, debug);
  pando::count_as_created(c.graph, made);
  return made;
}

poplar::Tensor run_in_blocks(const Call& c, const poplar::Tensor& a, const poplar::Tensor& b, const poplar::Tensor&, const poplar::Tensor&,
                             poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  poplar::Graph there = pando::rotated(c.graph, rotation_in_blocks(c.graph, c.problem, b));
  return multiply_blocked(there, c.problem, a, b, prog, debug);
}

bool finish_in_blocks(const Call& c, const poplar::Tensor& a, const poplar::Tensor& b, const Finish& finish,
                      std::vector<poplar::Tensor>& outs, poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  if (interfere(outs, tensors_read(a, b, finish))) return false;
  poplar::Graph there = pando::rotated(c.graph, rotation_in_blocks(c.graph, c.problem, b));
  multiply_and_finish_in_blocks(there, c.problem, a, b, finish, outs, prog, debug);
  return true;
}

}  // namespace

// All matrices in blocks of one size, where the options ask for that (blocked.h).
Method method_blocked() {
  return {.name = "blocked",
          .order = 1,
          .applies = is_blocked,
          .writes_given = false,
          .create = create_in_blocks,
          .run = run_in_blocks,
          .finish = finish_in_blocks,
          .report = [](std::ostream& out, const Problem& p, const poplar::Target& target, poplin::PlanningCache*) {
            print_blocked(out, p, target);
          }};
}

}  // namespace poplin::internal::matmul
