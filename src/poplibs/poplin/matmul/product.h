// A planned product as parts of a graph: where its operands lie, and the vertices that multiply and add up.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <vector>

#include "poplibs/poplin/matmul/layout.h"
#include "poplibs/poplin/matmul/plan.h"

namespace poplin::internal::matmul {

// A {groups, m, k}, B {groups, k, n} and C {groups, m, n} as flat tensors in the plan's order.
class Product {
 public:
  Product(const Problem& problem, const Plan& plan, const poplar::Target& target);

  const Problem& problem() const { return problem_; }
  const Layout& a() const { return a_; }
  const Layout& b() const { return b_; }
  const Layout& c() const { return c_; }

  // New variables, mapped to the tiles that the plan wants their pieces on. Shapes as above.
  poplar::Tensor create_a(poplar::Graph& graph, const poplar::DebugContext& debug) const;
  poplar::Tensor create_b(poplar::Graph& graph, const poplar::DebugContext& debug) const;
  poplar::Tensor create_c(poplar::Graph& graph, const poplar::DebugContext& debug) const;

  // The operand in the plan's order: as it is if its pieces are whole already, else a copy.
  poplar::Tensor arrange_a(poplar::Graph& graph, const poplar::Tensor& a, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const;
  poplar::Tensor arrange_b(poplar::Graph& graph, const poplar::Tensor& b, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const;

  // Can the multiplying vertices write C, in the plan's order, themselves?
  bool is_direct() const { return grid_.k == 1 && problem_.options.partials == problem_.output; }
  // The partial sums, one flat tensor in C's order for each part of k.
  std::vector<poplar::Tensor> multiply(poplar::Graph& graph, const poplar::Tensor& a, const poplar::Tensor& b, poplar::program::Sequence& prog,
                                       const poplar::DebugContext& debug) const;
  // The same into one flat tensor whose blocks are whole; is_direct().
  void multiply_into(poplar::Graph& graph, const poplar::Tensor& a, const poplar::Tensor& b, const poplar::Tensor& c,
                     poplar::program::Sequence& prog, const poplar::DebugContext& debug) const;

 private:
  using Mapping = poplar::Graph::TileToTensorMapping;
  unsigned tile(std::size_t group, std::size_t m, std::size_t n, std::size_t k) const;
  Mapping map_a() const;
  Mapping map_b() const;
  Mapping map_c() const;
  poplar::Tensor create(poplar::Graph& graph, const Layout& layout, const poplar::Type& type, const Mapping& mapping, const poplar::DebugContext& debug) const;
  poplar::Tensor arrange(poplar::Graph& graph, const Layout& layout, const Mapping& mapping, const poplar::Tensor& t,
                         poplar::program::Sequence& prog, const poplar::DebugContext& debug) const;
  void add_step(poplar::Graph& graph, std::size_t step, const poplar::Tensor& a, const poplar::Tensor& b, const std::vector<poplar::Tensor>& c,
                poplar::ComputeSet set) const;

  Problem problem_;
  Plan plan_;
  Grid grid_;
  unsigned tiles_;
  Layout a_, b_, c_;
};

// out = sum of the partials, or out += scale * sum if `scale` is valid: a scalar FLOAT or HALF. All are flat, of one size; each
// element is added up where `out` has it.
void add_up(poplar::Graph& graph, const std::vector<poplar::Tensor>& partials, const poplar::Tensor& out, const poplar::Tensor& scale,
            poplar::program::Sequence& prog, const poplar::DebugContext& debug);

}  // namespace poplin::internal::matmul
