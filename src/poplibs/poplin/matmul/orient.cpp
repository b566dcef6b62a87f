#include "poplibs/poplin/matmul/orient.h"

namespace poplin::internal::matmul {
namespace {

using poplar::Graph;
using poplar::Tensor;

// The same problem with other sizes.
Problem sized(Problem p, std::size_t m, std::size_t n, std::size_t k) {
  p.m = m, p.n = n, p.k = k;
  return p;
}

Tensor transposed(const Tensor& t) { return t.dimShuffle({0, 2, 1}); }

}  // namespace

Product product_of(const Graph& graph, const Problem& problem, poplin::PlanningCache* cache, Pass pass) {
  return Product(problem, plan_of(problem, graph.getTarget(), cache, pass), graph.getTarget(), pass);
}

Oriented orient(const Graph& graph, const Problem& p, const Tensor& a, const Tensor& b, const Tensor& out, poplin::PlanningCache* cache) {
  const Product forward = product_of(graph, p, cache);
  const auto update = [&](const Product& product) { return Oriented{product, transposed(a), b}; };
  if (p.options.is_update && !out.valid()) return update(product_of(graph, sized(p, p.k, p.n, p.m), cache, Pass::update));
  if (out.valid() && !flat_if_whole(graph, forward.result(), out).valid()) {
    const Product product = product_of(graph, sized(p, p.k, p.n, p.m), cache, Pass::update);
    if (flat_if_whole(graph, product.w(), out).valid()) return update(product);
  }
  if (!flat_if_whole(graph, forward.w(), b).valid()) {
    const Product product = product_of(graph, sized(p, p.m, p.k, p.n), cache, Pass::backward);
    const Tensor weights = transposed(b);
    if (flat_if_whole(graph, product.w(), weights).valid()) return {product, a, weights};
  }
  return {forward, a, b};
}

}  // namespace poplin::internal::matmul
