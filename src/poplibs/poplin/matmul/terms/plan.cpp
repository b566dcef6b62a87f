#include "poplibs/poplin/matmul/terms/plan.h"

namespace poplin::internal::matmul {

pando::planning::Product terms_of(const Problem& p) {
  return {p.groups,
          p.m,
          p.n,
          p.k,
          plan::element_type_of(p.input),
          plan::element_type_of(p.output),
          plan::element_type_of(p.options.partials),
          p.options.objective,
          p.options.memory_proportion};
}

Grid grid_of(const Problem& problem, const ProductPlan& plan) { return pando::planning::grid_of(terms_of(problem), plan); }

ProductPlan make_plan(const Problem& problem, const poplar::Target& target) {
  return pando::planning::plan_product(terms_of(problem), plan::machine_of(target));
}

void print(std::ostream& out, const Problem& problem, const ProductPlan& plan, const poplar::Target& target) {
  out << to_string(terms_of(problem), plan, plan::machine_of(target));
}

}  // namespace poplin::internal::matmul
