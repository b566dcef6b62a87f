#include "poplibs/popnn/loss/select.h"
#include "poplibs/poputil/reject.h"

#include <pando/ownership.hpp>
#include <popnn/Loss.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>

namespace popnn {

using namespace poplar;
using poputil::poplibs_error;
using poputil::templateVertex;

namespace internal {

namespace {

constexpr unsigned kSelectCycles = 3;
constexpr std::size_t kLeastPiece = 32;  // columns

// What one or k elements of each row take: vertices on all blocks, and one for each row that is in pieces.
struct SelectionVertices {
  std::string block;
  std::string merge;
  std::size_t k = 1;
};

Selected add_selection(Graph& graph, const Tensor& matrix, const RowPlan& plan, const SelectionVertices& names, const RowSets& sets,
                       const DebugContext& debug, const std::function<void(const VertexRef&, bool merge)>& set_fields) {
  const Type type = matrix.elementType();
  const Selected out = {add_per_row(graph, type, plan, names.k, {debug, "values"}),
                        add_per_row(graph, UNSIGNED_INT, plan, names.k, {debug, "indices"})};
  const bool whole = plan.whole_rows();
  const Tensor values = whole ? out.values : add_partials(graph, type, plan, names.k, {debug, "pieceValues"});
  const Tensor indices = whole ? out.indices : add_partials(graph, UNSIGNED_INT, plan, names.k, {debug, "pieceIndices"});
  const std::string vertex = templateVertex(names.block, type), merge = templateVertex(names.merge, type);
  const std::vector<Tensor> parts = parts_of(matrix, plan);
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const RowBlock& b = plan.blocks[i];
    const Tensor v = whole ? values.slice(b.rows) : values[i / plan.pieces][i % plan.pieces];
    const Tensor n = whole ? indices.slice(b.rows) : indices[i / plan.pieces][i % plan.pieces];
    const VertexRef ref = graph.addVertex(sets.first, vertex, {{"in", parts[i]}, {"values", v.flatten()}, {"indices", n.flatten()}});
    graph.setInitialValue(ref["columns"], static_cast<unsigned>(b.columns.size()));
    graph.setInitialValue(ref["offset"], static_cast<unsigned>(b.columns.begin()));
    set_fields(ref, false);
    graph.setTileMapping(ref, b.tile);
  }
  for (std::size_t r = 0; r < plan.rows && !whole; ++r) {
    const VertexRef ref = graph.addVertex(sets.merge, merge,
                                          {{"pieceValues", values[r].flatten()},
                                           {"pieceIndices", indices[r].flatten()},
                                           {"values", out.values[r]},
                                           {"indices", out.indices[r]}});
    set_fields(ref, true);
    graph.setTileMapping(ref, plan.block(r, 0).tile);
  }
  return out;
}

}  // namespace

RowSets add_row_sets(Graph& graph, const DebugContext& debug) {
  return {graph.addComputeSet({debug, "Rows"}), graph.addComputeSet({debug, "Merge"})};
}

void execute(const RowSets& sets, const RowPlan& plan, program::Sequence& prog) {
  prog.add(program::Execute(sets.first));
  if (!plan.whole_rows()) prog.add(program::Execute(sets.merge));
}

Selected add_extreme(Graph& graph, const Tensor& matrix, const RowPlan& plan, bool least, const RowSets& sets, const DebugContext& debug) {
  return add_selection(graph, matrix, plan, {"popnn::ArgExtreme", "popnn::ArgExtremeMerge", 1}, sets, debug,
                       [&](const VertexRef& v, bool) { graph.setInitialValue(v["least"], least); });
}

void check_searchable(const Tensor& matrix, const std::string& function) {
  if (matrix.rank() != 2)
    poputil::reject("input-shape", "{}", function + ": the input has shape " + matrix.shapeToString() + ", expected two dimensions");
  const Type type = matrix.elementType();
  if (type != FLOAT && type != HALF && type != INT && type != UNSIGNED_INT)
    poputil::reject("input-type", "{}",
                    function + ": the input has type " + type.toString() + ", expected float, half, int or unsigned int");
  if (matrix.dim(1) == 0) poputil::reject("no-classes", "{}", function + ": rows without elements have no extreme");
}

namespace {

// Results for matrices without rows, or of no columns.
Selected nothing(Graph& graph, const Type& type, std::size_t rows, std::size_t k) {
  return {graph.addVariable(type, {rows, k}), graph.addVariable(UNSIGNED_INT, {rows, k})};
}

Selected extreme(Graph& graph, const Tensor& input, bool least, program::Sequence& prog, const DebugContext& debug,
                 const std::string& function) {
  check_searchable(input, function);
  if (input.dim(0) == 0) return nothing(graph, input.elementType(), 0, 1);
  const RowPlan plan = plan_rows(graph, input, kSelectCycles);
  const RowSets sets = add_row_sets(graph, debug);
  const Selected out = add_extreme(graph, input, plan, least, sets, debug);
  execute(sets, plan, prog);
  return out;
}

}  // namespace

}  // namespace internal

Tensor argMax(Graph& graph, const Tensor& input, program::Sequence& prog, const DebugContext& debug) {
  return internal::extreme(graph, input, false, prog, {debug, "ArgMax"}, "popnn::argMax").indices.flatten();
}

Tensor argMin(Graph& graph, const Tensor& input, program::Sequence& prog, const DebugContext& debug) {
  return internal::extreme(graph, input, true, prog, {debug, "ArgMin"}, "popnn::argMin").indices.flatten();
}

std::pair<Tensor, Tensor> maxAndArgMax(Graph& graph, const Tensor& input, program::Sequence& prog, const DebugContext& debug) {
  const internal::Selected out = internal::extreme(graph, input, false, prog, {debug, "MaxAndArgMax"}, "popnn::maxAndArgMax");
  return {out.values.flatten(), out.indices.flatten()};
}

std::pair<Tensor, Tensor> minAndArgMin(Graph& graph, const Tensor& input, program::Sequence& prog, const DebugContext& debug) {
  const internal::Selected out = internal::extreme(graph, input, true, prog, {debug, "MinAndArgMin"}, "popnn::minAndArgMin");
  return {out.values.flatten(), out.indices.flatten()};
}

Tensor topK(Graph& graph, const Tensor& input, Tensor& indices, unsigned K, bool, program::Sequence& prog, const DebugContext& debug) {
  using namespace internal;
  const std::string function = "popnn::topK";
  pando::require_own(graph, input, function);
  pando::require_own(graph, prog, function);
  check_searchable(input, function);
  if (K > input.dim(1))
    poputil::reject("k-range", "{}", function + ": K is " + std::to_string(K) + ", expected at most " + std::to_string(input.dim(1)));
  if (input.dim(0) == 0 || K == 0) {
    const Selected none = nothing(graph, input.elementType(), input.dim(0), K);
    indices = none.indices.expand({1});
    return none.values.expand({1});
  }
  // A piece has at least K elements.
  const RowPlan plan = plan_rows(graph, input, 2 * kSelectCycles, std::max<std::size_t>(kLeastPiece, 2 * K));
  const RowSets sets = add_row_sets(graph, {debug, "TopK"});
  const Selected out =
      add_selection(graph, input, plan, {"popnn::TopK", "popnn::TopKMerge", K}, sets, {debug, "TopK"}, [&](const VertexRef& v, bool merge) {
        if (!merge) graph.setInitialValue(v["k"], K);
      });
  execute(sets, plan, prog);
  indices = out.indices.expand({1});
  return out.values.expand({1});
}

}  // namespace popnn
