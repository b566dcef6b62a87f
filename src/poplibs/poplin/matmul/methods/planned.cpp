#include <pando/placing.hpp>

#include <utility>

#include "poplibs/poplin/matmul/begin.h"
#include "poplibs/poplin/matmul/finish.h"
#include "poplibs/poplin/matmul/method.h"
#include "poplibs/poplin/matmul/orient.h"
#include "poplibs/poplin/matmul/product.h"

namespace poplin::internal::matmul {
namespace {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;

// out = product, or out += scale * product if scale is valid. On a graph that is rotated as the product is.
void write_product(Graph graph, const Oriented& o, const Tensor& out, const Tensor& scale, Sequence& prog, const DebugContext& debug) {
  const Tensor first = o.product.arrange_first(graph, o.first, prog, debug),
               second = o.product.arrange_second(graph, o.second, prog, debug);
  const Tensor whole = o.product.is_direct() ? flat_if_whole(graph, o.product.result(), out) : Tensor();
  const bool scales = !scale.valid() || (o.product.is_update() && scale.elementType() == poplar::FLOAT);
  if (whole.valid() && scales && !whole.intersectsWith(first) && !whole.intersectsWith(second))
    return o.product.multiply_into(graph, first, second, whole, scale, prog, debug);
  add_up(graph, o.product.multiply(graph, first, second, prog, debug), to_flat(o.product.result(), out), scale, prog, debug);
}

Tensor create_by_plan(const Call& c, Matrix matrix, const Shape& shape, const DebugContext& debug) {
  const poplar::Type& type = matrix == Matrix::result ? c.problem.output : c.problem.input;
  const Product product = product_of(c.graph, c.problem, c.cache);
  Graph there = pando::rotated(c.graph, rotation_of_new(c.graph, product, type, shape[0] * shape[1] * shape[2]));
  const Tensor made = matrix == Matrix::a   ? product.create_x(there, debug)
                      : matrix == Matrix::b ? product.create_w(there, debug)
                                            : product.create_result(there, debug);
  pando::count_as_created(c.graph, made);
  return made;
}

Tensor arrange_by_plan(const Call& c, const Tensor& b, Sequence& prog, const DebugContext& debug) {
  const Product product = product_of(c.graph, c.problem, c.cache);
  Graph there = pando::rotated(c.graph, rotation_of_new(c.graph, product, b.elementType(), b.numElements()));
  return from_flat(product.w(), product.arrange_second(there, b, prog, debug));
}

Tensor run_by_plan(const Call& c, const Tensor& a, const Tensor& b, const Tensor& given, const Tensor& scale, Sequence& prog,
                   const DebugContext& debug) {
  const Oriented o = orient(c.graph, c.problem, a, b, given, c.cache);
  Graph there = pando::rotated(c.graph, rotation_by_plan(c.graph, o, given));
  const Tensor out = given.valid() ? given : o.product.create_result(there, {debug, "out"});
  write_product(std::move(there), o, out, scale, prog, debug);
  return out;
}

// Where partial sums are added up. Without partial sums the multiplying vertices write the result themselves.
bool finish_by_plan(const Call& c, const Tensor& a, const Tensor& b, const Finish& finish, std::vector<Tensor>& outs, Sequence& prog,
                    const DebugContext& debug) {
  if (interfere(outs, tensors_read(a, b, finish)) || c.problem.input != poplar::FLOAT) return false;
  const Oriented o = orient(c.graph, c.problem, a, b, Tensor(), c.cache);
  if (o.product.is_direct()) return false;
  Graph graph = pando::rotated(c.graph, rotation_by_plan(c.graph, o, outs[0]));
  const Tensor first = o.product.arrange_first(graph, o.first, prog, debug),
               second = o.product.arrange_second(graph, o.second, prog, debug);
  std::vector<Tensor> flat;
  for (Tensor& t : outs) {
    if (!t.valid()) t = o.product.create_result(graph, {debug, "out"});
    flat.push_back(to_flat(o.product.result(), t));
  }
  const std::vector<Tensor> partials = o.product.multiply(graph, first, second, prog, debug);
  add_up_and_finish(graph, partials, o.product.result(), flat_finish(finish, o.product.result(), flat), prog, debug);
  return true;
}

}  // namespace

// By the planner: a grid over the tiles, for each product its own.
Method method_planned() {
  return {.name = "planned",
          .order = 2,
          .applies = [](const Problem&, const poplar::Target&) { return true; },
          .create = create_by_plan,
          .arrange = arrange_by_plan,
          .run = run_by_plan,
          .finish = finish_by_plan,
          .report = [](std::ostream& out, const Problem& p, const poplar::Target& target,
                       poplin::PlanningCache* cache) { print(out, p, plan_of(p, target, cache), target); }};
}

}  // namespace poplin::internal::matmul
