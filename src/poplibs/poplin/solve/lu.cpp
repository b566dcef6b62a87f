// Block by block: a diagonal block is factored on its own, the rows beside it and the columns below it are solved with its triangles, and
// their product is taken away from the rest.
#include <poplin/TriangularSolve.hpp>
#include <poplin/experimental/LuFactorization.hpp>
#include <popops/Cast.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

#include "poplibs/poplin/solve/blocks.h"
#include "poplibs/poputil/reject.h"

namespace poplin::experimental {

using namespace poplar;
using program::Sequence;

namespace {

constexpr std::size_t kBlock = 64;

// A new tensor with both triangles of a square block.
Tensor factor_block(Graph& graph, const Tensor& block, unsigned tile, Sequence& prog, const DebugContext& debug) {
  const Tensor factors = graph.addVariable(FLOAT, block.shape(), {debug, "factors"});
  const ComputeSet cs = graph.addComputeSet({debug, "factor"});
  const VertexRef v = graph.addVertex(cs, "poplin::FactorLu", {{"matrix", factors.flatten()}});
  graph.setInitialValue(v["size"], static_cast<unsigned>(block.dim(0)));
  graph.setTileMapping(factors, tile);
  graph.setTileMapping(v, tile);
  prog.add(program::Copy(block, factors, false, {debug, "factors"}));
  prog.add(program::Execute(cs, {debug, "factor"}));
  return factors;
}

Tensor zeros(Graph& graph, std::size_t rows, std::size_t columns, Sequence& prog, const DebugContext& debug) {
  const Tensor t = graph.addVariable(FLOAT, {rows, columns}, {debug, "zeros"});
  poputil::mapTensorLinearly(graph, t);
  popops::zero(graph, t, prog, {debug, "zeros"});
  return t;
}

// {m, n} of which the rows begin with zeros.
Tensor upper_part(Graph& graph, const Tensor& t, Sequence& prog, const DebugContext& debug) {
  const std::size_t m = t.dim(0), n = t.dim(1), square = std::min(m, n);
  const Tensor top = triangularMask(graph, t.slice({0, 0}, {square, square}), false, false, prog, {debug, "upper"});
  if (n >= m) return concat(top, t.slice(square, n, 1), 1);
  return concat(top, zeros(graph, m - n, n, prog, debug), 0);
}

// {m, m} with ones on the diagonal.
Tensor lower_part(Graph& graph, const Tensor& t, Sequence& prog, const DebugContext& debug) {
  const std::size_t m = t.dim(0), n = t.dim(1);
  const Tensor square = n >= m ? t.slice(0, m, 1) : concat(t, zeros(graph, m, m - n, prog, debug), 1);
  return triangularMask(graph, square, true, true, prog, {debug, "lower"});
}

}  // namespace

std::pair<Tensor, Tensor> LUFactorization(Graph& graph, Tensor& input, Sequence& prog, const DebugContext& debugContext) {
  const DebugContext debug(debugContext, "lu");
  if (!input.valid() || input.rank() != 2 || input.numElements() == 0 || (input.elementType() != FLOAT && input.elementType() != HALF))
    poputil::reject("lu-input", "poplin::experimental::LUFactorization: A is {}; expected a matrix of float or half with an element",
                    input.valid() ? input.elementType().toString() + " " + input.shapeToString() : std::string("an invalid tensor"));
  const std::size_t m = input.dim(0), n = input.dim(1), end = std::min(m, n);
  const Tensor all = graph.addVariable(FLOAT, {m, n}, {debug, "factors"});
  poputil::mapTensorLinearly(graph, all);
  popops::castWithOutput(graph, input, all, prog, {debug, "factors"});
  for (std::size_t begin = 0; begin < end; begin += kBlock) {
    const Interval block(begin, std::min(end, begin + kBlock)), below(block.end(), m), right(block.end(), n);
    const auto part = [&](Interval rows, Interval columns) { return all.slice(rows, 0).slice(columns, 1); };
    const auto tile = static_cast<unsigned>(begin / kBlock % graph.getTarget().getNumTiles());
    const Tensor factors = factor_block(graph, part(block, block), tile, prog, debug);
    prog.add(program::Copy(factors, part(block, block), false, {debug, "factors"}));
    if (right.size() > 0)
      prog.add(program::Copy(triangularSolve(graph, factors, part(block, right), true, true, true, prog, {debug, "right"}),
                             part(block, right), false, {debug, "right"}));
    if (below.size() > 0)
      prog.add(program::Copy(triangularSolve(graph, factors, part(below, block), false, false, false, prog, {debug, "below"}),
                             part(below, block), false, {debug, "below"}));
    if (right.size() > 0 && below.size() > 0)
      matMulAcc(graph, part(below, right), -1.0f, part(below, block), part(block, right), prog, {debug, "update"});
  }
  return {lower_part(graph, all, prog, debug), upper_part(graph, all, prog, debug)};
}

}  // namespace poplin::experimental
