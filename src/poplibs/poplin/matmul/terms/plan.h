// Products as poplin's callers state them, and their plans (planning/product.h).
#pragma once

#include <poplar/Target.hpp>

#include <cstddef>
#include <ostream>

#include "planning/product.h"
#include "poplibs/poplin/matmul/terms/options.h"

namespace poplin::internal::matmul {

using pando::planning::Outer;
using pando::planning::tile_of;
using Block = pando::planning::ProductBlock;
using Grid = pando::planning::ProductGrid;
using pando::planning::ProductPlan;

struct Problem {
  std::size_t groups = 1, m = 0, n = 0, k = 0;
  poplar::Type input, output;
  Options options;
};

// What the planner sees of it.
pando::planning::Product terms_of(const Problem& problem);

// The grid of a problem with this plan.
Grid grid_of(const Problem& problem, const ProductPlan& plan);

ProductPlan make_plan(const Problem& problem, const poplar::Target& target);

void print(std::ostream& out, const Problem& problem, const ProductPlan& plan, const poplar::Target& target);

}  // namespace poplin::internal::matmul
