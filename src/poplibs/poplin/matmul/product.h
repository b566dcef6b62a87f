// A planned product as parts of a graph: where its matrices lie, and the vertices that multiply and add up.
//
// One plan serves three products of the matrices X {groups, m, k}, W {groups, k, n}, Y {groups, m, n}: what a layer computes, and what
// training it takes. Each reads two of them where the plan has them and adds up the third along one dimension of the grid:
//
//     forward    Y = X * W               partial sums along k
//     backward   X = Y * transpose(W)    along n
//     update     W = transpose(X) * Y    along m
//
// so that weights are multiplied, and updated, without ever moving.
#pragma once

#include <pando/placing.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <vector>

#include "poplibs/poplin/matmul/terms/layout.h"
#include "poplibs/poplin/matmul/terms/plan.h"

namespace poplin::internal::matmul {

enum class Pass { forward, backward, update };

class Product {
 public:
  // `problem` is the forward product's.
  Product(const Problem& problem, const ProductPlan& plan, const poplar::Target& target, Pass pass = Pass::forward);

  // Orders of the three matrices; Y's blocks are whole in its order, in pieces of rows where it is an operand.
  const Layout& x() const { return x_; }
  const Layout& w() const { return w_; }
  const Layout& y() const { return y_; }
  const Layout& result() const { return pass_ == Pass::forward ? whole_y_ : pass_ == Pass::backward ? x_ : w_; }

  // Of this pass's operands, as the plan has them.
  const Layout& first() const { return pass_ == Pass::backward ? y_ : x_; }
  const Layout& second() const { return pass_ == Pass::update ? y_ : w_; }

  // The plan's tiles with an equal part of the bytes each. All three matrices begin on tile 0 of the graph.
  std::vector<pando::TileBytes> form(std::size_t bytes) const;
  std::size_t tiles_used() const { return grid_.count(); }

  // New variables, mapped to the tiles that the plan wants their pieces on. Shapes as above.
  poplar::Tensor create_x(poplar::Graph& graph, const poplar::DebugContext& debug) const;
  poplar::Tensor create_w(poplar::Graph& graph, const poplar::DebugContext& debug) const;
  // Of this pass, shared out among the tiles that add up its blocks.
  poplar::Tensor create_result(poplar::Graph& graph, const poplar::DebugContext& debug) const;

  // The operands of this pass in the plan's order: as they are if their pieces are whole already, else copies. X, Y and X come
  // first; W, W and Y second.
  poplar::Tensor arrange_first(poplar::Graph& graph, const poplar::Tensor& t, poplar::program::Sequence& prog,
                               const poplar::DebugContext& debug) const;
  poplar::Tensor arrange_second(poplar::Graph& graph, const poplar::Tensor& t, poplar::program::Sequence& prog,
                                const poplar::DebugContext& debug) const;

  // Can the multiplying vertices write the result, in the plan's order and with whole pieces, themselves?
  bool is_update() const { return pass_ == Pass::update; }
  bool is_direct() const { return parts_ == 1 && problem_.options.partials == problem_.output; }
  // The partial sums, one flat tensor in the result's order for each part.
  std::vector<poplar::Tensor> multiply(poplar::Graph& graph, const poplar::Tensor& first, const poplar::Tensor& second,
                                       poplar::program::Sequence& prog, const poplar::DebugContext& debug) const;
  // The same into one flat tensor whose pieces are whole; is_direct(). With a valid `scale`, a FLOAT scalar, in the update pass only:
  // result += scale * product.
  void multiply_into(poplar::Graph& graph, const poplar::Tensor& first, const poplar::Tensor& second, const poplar::Tensor& result,
                     const poplar::Tensor& scale, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const;

 private:
  using Mapping = poplar::Graph::TileToTensorMapping;
  struct Place {
    std::size_t group, m, n, k;
  };
  unsigned tile(const Place& at) const;
  // The place that adds part `part` of the result's block.
  Place place_of(std::size_t group, std::size_t row_block, std::size_t column_block, std::size_t part) const;
  Mapping map_x() const;
  Mapping map_w() const;
  Mapping map_y() const;
  Mapping map_result() const;
  Mapping map_partials(std::size_t part) const;
  poplar::Tensor create(poplar::Graph& graph, const Layout& layout, const poplar::Type& type, const Mapping& mapping,
                        const poplar::DebugContext& debug) const;
  std::vector<poplar::Tensor> x_pieces(const poplar::Tensor& x, const Place& at, std::size_t step) const;
  std::vector<poplar::Tensor> w_pieces(const poplar::Tensor& w, const Place& at, std::size_t step) const;
  std::vector<poplar::Tensor> y_pieces(const poplar::Tensor& y, const Place& at) const;
  void add_steps(poplar::Graph& graph, const poplar::Tensor& first, const poplar::Tensor& second, const std::vector<poplar::Tensor>& result,
                 const poplar::Tensor& scale, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const;
  void add_vertex(poplar::Graph& graph, const Place& at, std::size_t step, const poplar::Tensor& first, const poplar::Tensor& second,
                  const poplar::Tensor& result, const poplar::Tensor& scale, poplar::ComputeSet set) const;

  Problem problem_;
  ProductPlan plan_;
  Grid grid_;
  unsigned tiles_;
  Pass pass_;
  std::size_t parts_;
  Layout x_, w_, y_, whole_y_;
};

// The tensor in the layout's order, if every piece is whole there; else an invalid one.
poplar::Tensor flat_if_whole(const poplar::Graph& graph, const Layout& layout, const poplar::Tensor& t);

// out = sum of the partials, or out += scale * sum if `scale` is valid: a scalar FLOAT or HALF. All are flat, of one size; each
// element is added up where `out` has it.
void add_up(poplar::Graph& graph, const std::vector<poplar::Tensor>& partials, const poplar::Tensor& out, const poplar::Tensor& scale,
            poplar::program::Sequence& prog, const poplar::DebugContext& debug);

}  // namespace poplin::internal::matmul
