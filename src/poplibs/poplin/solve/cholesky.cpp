// Block by block: a diagonal block is factored on its own, the rows below it are solved with that factor, and their product is taken away
// from what is right of them. An upper factor is the lower one of the transposed view.
#include <poplin/Cholesky.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

#include "poplibs/poplin/solve/blocks.h"
#include "poplibs/poputil/reject.h"

namespace poplin {

using namespace poplar;
using program::Sequence;
using Shape = std::vector<std::size_t>;

namespace {

// A new tensor with the factors of blocks {groups, size, size}.
Tensor factor_blocks(Graph& graph, const Tensor& blocks, Sequence& prog, const DebugContext& debug) {
  const std::size_t tiles = graph.getTarget().getNumTiles();
  const Tensor factors = graph.addVariable(blocks.elementType(), blocks.shape(), {debug, "factors"});
  const ComputeSet cs = graph.addComputeSet({debug, "factor"});
  for (std::size_t g = 0; g < blocks.dim(0); ++g) {
    const VertexRef v =
        graph.addVertex(cs, "poplin::FactorBlock<" + blocks.elementType().toString() + ">", {{"matrix", factors[g].flatten()}});
    graph.setInitialValue(v["size"], static_cast<unsigned>(blocks.dim(1)));
    graph.setTileMapping(factors[g], static_cast<unsigned>(g % tiles));
    graph.setTileMapping(v, static_cast<unsigned>(g % tiles));
  }
  prog.add(program::Copy(blocks, factors, false, {debug, "factors"}));
  prog.add(program::Execute(cs, {debug, "factor"}));
  return factors;
}

}  // namespace

solve::Products getCholeskyMatMulPrePlanParameters(const Type& type, const Shape& shape, bool, OptionFlags options) {
  solve::expect_square(type, shape, "getCholeskyMatMulPrePlanParameters");
  const solve::Options parsed = solve::parse_options(options);
  const std::size_t g = solve::groups_of(shape), n = shape.back(), block = parsed.block;
  solve::Products products;
  for (std::size_t end = block; end < n; end += block)
    products.emplace_back(MatMulParams{type, type, {g, n - end, block}, {g, block, n - end}}, parsed.products);
  return products;
}

Tensor createCholeskyInput(Graph& graph, const Type& type, const Shape& shape, bool, const DebugContext& debugContext,
                           const OptionFlags& options, PlanningCache*) {
  solve::expect_square(type, shape, "createCholeskyInput");
  solve::parse_options(options);
  const Tensor t = graph.addVariable(type, shape, debugContext);
  poputil::mapTensorLinearly(graph, t);
  return t;
}

Tensor cholesky(Graph& graph, const Tensor& a, bool lower, Sequence& prog, const DebugContext& debugContext, OptionFlags options,
                PlanningCache* cache) {
  const Tensor factor = graph.clone(a, {debugContext, "cholesky"});
  prog.add(program::Copy(a, factor, false, {debugContext, "cholesky"}));
  choleskyInPlace(graph, factor, lower, prog, debugContext, std::move(options), cache);
  return factor;
}

void choleskyInPlace(Graph& graph, const Tensor& a, bool lower, Sequence& prog, const DebugContext& debugContext, OptionFlags options,
                     PlanningCache* cache) {
  const DebugContext debug(debugContext, "cholesky");
  solve::expect_square(a.elementType(), a.shape(), "cholesky");
  if (!a.isParallelWriteable()) poputil::reject("not-writeable", "choleskyInPlace: A has constants or elements more than once");
  const solve::Options parsed = solve::parse_options(options);
  if (a.numElements() == 0) return;
  const Tensor l = lower ? solve::grouped(a) : solve::grouped(a).dimShuffle({0, 2, 1});
  const std::size_t n = l.dim(1);
  for (std::size_t begin = 0; begin < n; begin += parsed.block) {
    const Interval block(begin, std::min(n, begin + parsed.block)), behind(block.end(), n);
    const Tensor diagonal = solve::box(l, block, block), below = solve::box(l, behind, block);
    const Tensor factors = factor_blocks(graph, diagonal, prog, debug);
    prog.add(program::Copy(factors, diagonal, false, {debug, "factors"}));
    if (behind.size() == 0) break;
    const Tensor rows = solve::solve_rows(graph, factors, below, false, prog, debug);
    prog.add(program::Copy(rows, below, false, {debug, "rows"}));
    popops::zero(graph, solve::box(l, block, behind), prog, {debug, "above"});
    matMulGroupedAcc(graph, solve::box(l, behind, behind), -1.0f, rows, rows.dimShuffle({0, 2, 1}), prog, {debug, "update"},
                     parsed.products, cache);
  }
}

}  // namespace poplin
