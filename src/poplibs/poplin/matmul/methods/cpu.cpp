#include <pando/cpu_device.hpp>

#include "poplibs/poplin/matmul/cpu_product.h"
#include "poplibs/poplin/matmul/method.h"

namespace poplin::internal::matmul {
namespace {

poplar::Tensor create(const Call& c, Matrix matrix, const Shape& shape, const poplar::DebugContext& debug) {
  return variable_on_cpu(c.graph, matrix == Matrix::result ? c.problem.output : c.problem.input, shape, debug);
}

poplar::Tensor run(const Call& c, const poplar::Tensor& a, const poplar::Tensor& b, const poplar::Tensor& out, const poplar::Tensor& scale,
                   poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  const Problem& p = c.problem;
  const poplar::Tensor result = out.valid() ? out : variable_on_cpu(c.graph, p.output, {p.groups, p.m, p.n}, {debug, "out"});
  multiply_on_cpu(c.graph, p, a, b, result, scale, prog, debug);
  return result;
}

bool finish(const Call& c, const poplar::Tensor& a, const poplar::Tensor& b, const Finish& epilogue, std::vector<poplar::Tensor>& outs,
            poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  return multiply_and_finish_on_cpu(c.graph, c.problem, a, b, epilogue, outs, prog, debug);
}

}  // namespace

// On the CPU device.
Method method_cpu() {
  return {.name = "cpu",
          .order = 0,
          .applies = [](const Problem&, const poplar::Target& target) { return pando::reads_in_place(target); },
          .create = create,
          .run = run,
          .finish = finish,
          .report = [](std::ostream& out, const Problem& p, const poplar::Target&, poplin::PlanningCache*) { print_on_cpu(out, p); }};
}

}  // namespace poplin::internal::matmul
