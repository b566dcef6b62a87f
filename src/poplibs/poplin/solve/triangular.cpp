// Block by block: the rows of a block are solved on their own, then what they add to the rows behind them is taken away by a product.
// Systems on the right are transposed, upper triangles reversed: views.
#include <poplin/TriangularSolve.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Encoding.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

#include "poplibs/poplin/solve/blocks.h"
#include "poplibs/poputil/reject.h"

namespace poplin {

using namespace poplar;
using program::Sequence;
using Shape = std::vector<std::size_t>;
namespace pe = popops::expr;

namespace {

void expect_system(const Type& type, const Shape& a, const Shape& b, bool left, const std::string& function) {
  solve::expect_square(type, a, function);
  const bool same_groups = a.size() == b.size() && std::equal(a.begin(), a.end() - 2, b.begin());
  if (!same_groups || b[b.size() - (left ? 2 : 1)] != a.back())
    poputil::reject("system-shapes", "{}: A has {} dimensions, B has {}: expected the same groups, and as many {} of B as A has rows",
                    function, a.size(), b.size(), left ? "rows" : "columns");
}

Tensor create(Graph& graph, const Type& type, const Shape& a, const Shape& b, bool left, const Shape& shape, const DebugContext& debug,
              const OptionFlags& options, const char* function) {
  expect_system(type, a, b, left, function);
  solve::parse_options(options);
  const Tensor t = graph.addVariable(type, shape, debug);
  poputil::mapTensorLinearly(graph, t);
  return t;
}

OptionFlags with_block(const OptionFlags& options, std::size_t block) {
  OptionFlags all = options;
  all.set("blockSize", std::to_string(block));
  return all;
}

// L X = B with a lower triangle L, in groups.
Tensor solve_lower(Graph& graph, const Tensor& l, const Tensor& b, bool unit, Sequence& prog, const DebugContext& debug,
                   const solve::Options& options, PlanningCache* cache) {
  const std::size_t n = l.dim(1);
  Tensor rest = b;
  if (n > options.block) {
    rest = graph.clone(b, {debug, "rest"});
    prog.add(program::Copy(b, rest, false, {debug, "rest"}));
  }
  std::vector<Tensor> solved;
  for (std::size_t begin = 0; begin < n; begin += options.block) {
    const Interval block(begin, std::min(n, begin + options.block)), behind(block.end(), n);
    const Tensor rows = rest.slice(block, 1).dimShuffle({0, 2, 1});
    solved.push_back(solve::solve_rows(graph, solve::box(l, block, block), rows, unit, prog, debug).dimShuffle({0, 2, 1}));
    if (behind.size() > 0)
      matMulGroupedAcc(graph, rest.slice(behind, 1), -1.0f, solve::box(l, behind, block), solved.back(), prog, {debug, "update"},
                       options.products, cache);
  }
  return concat(solved, 1);
}

}  // namespace

Tensor createTriangularSolveInputLHS(Graph& graph, const Type& inputType, const Type&, const Shape& aShape, const Shape& bShape,
                                     bool leftSide, const DebugContext& debugContext, const OptionFlags& options, PlanningCache*) {
  return create(graph, inputType, aShape, bShape, leftSide, aShape, debugContext, options, "createTriangularSolveInputLHS");
}

Tensor createTriangularSolveInputRHS(Graph& graph, const Type& inputType, const Type&, const Shape& aShape, const Shape& bShape,
                                     bool leftSide, const DebugContext& debugContext, const OptionFlags& options, PlanningCache*) {
  return create(graph, inputType, aShape, bShape, leftSide, bShape, debugContext, options, "createTriangularSolveInputRHS");
}

Tensor createTriangularSolveInputLHS(Graph& graph, const Type& inputType, const Type& outputType, const Shape& aShape, const Shape& bShape,
                                     bool leftSide, std::size_t blockSize, const DebugContext& debugContext, const OptionFlags& options,
                                     PlanningCache* cache) {
  return createTriangularSolveInputLHS(graph, inputType, outputType, aShape, bShape, leftSide, debugContext, with_block(options, blockSize),
                                       cache);
}

Tensor createTriangularSolveInputRHS(Graph& graph, const Type& inputType, const Type& outputType, const Shape& aShape, const Shape& bShape,
                                     bool leftSide, std::size_t blockSize, const DebugContext& debugContext, const OptionFlags& options,
                                     PlanningCache* cache) {
  return createTriangularSolveInputRHS(graph, inputType, outputType, aShape, bShape, leftSide, debugContext, with_block(options, blockSize),
                                       cache);
}

Tensor triangularMask(Graph& graph, const Tensor& a, bool lower, bool unitDiagonal, Sequence& prog, const DebugContext& debugContext) {
  solve::expect_square(a.elementType(), a.shape(), "triangularMask");
  const DebugContext debug(debugContext, "triangularMask");
  const std::size_t n = a.dim(a.rank() - 1);
  const Tensor count = graph.addVariable(UNSIGNED_INT, {n}, {debug, "count"});
  poputil::mapTensorLinearly(graph, count);
  popops::iota(graph, count, 0u, prog, {debug, "count"});
  const Type type = a.elementType();
  const auto number = [&](float x) { return pe::Cast(pe::Const(x), type); };
  const pe::Select masked(pe::_1, number(0), pe::Gte(pe::_2, pe::_3));
  const Tensor row = count.expand({1}), column = count;
  const std::vector<Tensor> operands = {a, lower ? row : column, lower ? column : row};
  return unitDiagonal ? popops::map(graph, pe::Select(number(1), masked, pe::Equal(pe::_2, pe::_3)), operands, prog, debug)
                      : popops::map(graph, masked, operands, prog, debug);
}

Tensor triangularSolve(Graph& graph, const Tensor& a, const Tensor& b, bool leftSide, bool lower, bool unitDiagonal, Sequence& prog,
                       const DebugContext& debugContext, const OptionFlags& options, PlanningCache* cache) {
  const DebugContext debug(debugContext, "triangularSolve");
  expect_system(a.elementType(), a.shape(), b.shape(), leftSide, "triangularSolve");
  if (b.elementType() != a.elementType())
    poputil::reject("solve-type", "triangularSolve: A is of type {}, B of type {}", a.elementType().toString(), b.elementType().toString());
  const solve::Options parsed = solve::parse_options(options);
  if (b.numElements() == 0) return graph.clone(b, debug);
  Tensor l = solve::grouped(a), right = solve::grouped(b);
  if (!leftSide) l = l.dimShuffle({0, 2, 1}), right = right.dimShuffle({0, 2, 1});
  const bool reversed = lower != leftSide;
  if (reversed) l = l.reverse(1).reverse(2), right = right.reverse(1);
  Tensor x = solve_lower(graph, l, right, unitDiagonal, prog, debug, parsed, cache);
  if (reversed) x = x.reverse(1);
  if (!leftSide) x = x.dimShuffle({0, 2, 1});
  return x.reshape(b.shape());
}

Tensor triangularSolve(Graph& graph, const Tensor& a, const Tensor& b, bool leftSide, bool lower, bool unitDiagonal, std::size_t blockSize,
                       Sequence& prog, const DebugContext& debugContext, const OptionFlags& options, PlanningCache* cache) {
  return triangularSolve(graph, a, b, leftSide, lower, unitDiagonal, prog, debugContext, with_block(options, blockSize), cache);
}

solve::Products getTriangularSolveMatMulPrePlanParameters(const Type& inputType, const Type& outputType, const Shape& aShape,
                                                          const Shape& bShape, bool leftSide, bool, const OptionFlags& options) {
  expect_system(inputType, aShape, bShape, leftSide, "getTriangularSolveMatMulPrePlanParameters");
  const solve::Options parsed = solve::parse_options(options);
  const std::size_t g = solve::groups_of(aShape), n = aShape.back(), block = parsed.block, m = bShape[bShape.size() - (leftSide ? 1 : 2)];
  solve::Products products;
  for (std::size_t end = block; end < n; end += block)
    products.emplace_back(MatMulParams{inputType, outputType, {g, n - end, block}, {g, block, m}}, parsed.products);
  return products;
}

solve::Products getTriangularSolveMatMulPrePlanParameters(const Type& inputType, const Type& outputType, const Shape& aShape,
                                                          const Shape& bShape, bool leftSide, bool lower, std::size_t blockSize,
                                                          const OptionFlags& options) {
  return getTriangularSolveMatMulPrePlanParameters(inputType, outputType, aShape, bShape, leftSide, lower, with_block(options, blockSize));
}

}  // namespace poplin
