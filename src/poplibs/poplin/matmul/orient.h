// Which pass of a plan computes a product.
#pragma once

#include "poplibs/poplin/matmul/planned.h"
#include "poplibs/poplin/matmul/product.h"

namespace poplin::internal::matmul {

// A product and its operands as that pass of it wants them.
struct Oriented {
  Product product;
  poplar::Tensor first, second;
};

Product product_of(const poplar::Graph& graph, const Problem& problem, poplin::PlanningCache* cache, Pass pass = Pass::forward);

// The pass that leaves the large matrices where they are: B as the transpose of weights that a forward product has arranged, or the
// result as such weights. `out` may be invalid.
Oriented orient(const poplar::Graph& graph, const Problem& problem, const poplar::Tensor& a, const poplar::Tensor& b,
                const poplar::Tensor& out, poplin::PlanningCache* cache);

}  // namespace poplin::internal::matmul
