#include <popops/Reduce.hpp>
#include <popsparse/Embedding.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/VertexTemplates.hpp>

#include <algorithm>

#include "poplibs/popsparse/dynamic/moving.h"
#include "poplibs/popsparse/dynamic/problem.h"
#include "poplibs/popsparse/dynamic/product.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"

namespace popsparse::dynamic {
namespace {

using namespace poplar;
using namespace poplar::program;
using pando::poplibs::ceil_div;
using pando::poplibs::vertices_per_tile;
using poputil::reject;
using poputil::templateVertex;

void check_indices(const char* function, const Tensor& indices) {
  if (indices.rank() != 1 || indices.elementType() != UNSIGNED_INT)
    reject("popsparse-indices", "{}: indices of {} dimensions and type {}; expected one dimension of unsigned_int", function,
           indices.rank(), indices.elementType().toString());
}

void set_part(Graph& graph, const VertexRef& v, const SparsePlan& plan, std::size_t p) {
  const Interval rows = plan.rows_of(p / plan.column_parts), columns = plan.columns_of(p % plan.column_parts);
  graph.setInitialValue(v["home"], static_cast<unsigned>(p));
  graph.setInitialValue(v["first_row"], static_cast<unsigned>(rows.begin()));
  graph.setInitialValue(v["rows"], static_cast<unsigned>(rows.size()));
  graph.setInitialValue(v["width"], static_cast<unsigned>(columns.size()));
  graph.setInitialValue(v["block_rows"], static_cast<unsigned short>(plan.problem.shape.block[0]));
  graph.setInitialValue(v["block_columns"], static_cast<unsigned short>(plan.problem.shape.block[1]));
}

// Rows of all columns, column part after column part: {n, columns} of a vector.
Tensor as_rows(const Tensor& all, const SparsePlan& plan, std::size_t n) {
  std::vector<Tensor> parts;
  for (std::size_t c = 0; c < plan.column_parts; ++c) {
    const Interval columns = plan.columns_of(c);
    parts.push_back(all.slice(n * columns.begin(), n * columns.end()).reshape({n, columns.size()}));
  }
  return concat(parts, 1);
}

}  // namespace

Tensor createIndicesTensor(Graph& graph, const FullyConnectedParams& params, std::size_t n, const OptionFlags& options,
                           const DebugContext& context) {
  problem_of("popsparse::dynamic::createIndicesTensor", params, FLOAT);
  dynamic_options(options);
  const Tensor indices = graph.addVariable(UNSIGNED_INT, {n}, {context, "indices"});
  poputil::mapTensorLinearly(graph, indices);
  return indices;
}

Tensor createSliceTensor(Graph& graph, const Type& type, const FullyConnectedParams& params, std::size_t n, const DebugContext& context,
                         const OptionFlags& options, PlanningCache*) {
  const SparsePlan plan =
      make_plan(graph.getTarget(), problem_of("popsparse::dynamic::createSliceTensor", params, type), dynamic_options(options));
  const Tensor all = graph.addVariable(type, {n * plan.problem.shape.columns}, {context, "slices"});
  poputil::mapTensorLinearly(graph, all);
  return as_rows(all, plan, n);
}

Tensor embeddingSlice(Graph& graph, const SparseTensor& t, const Tensor& indices, Sequence& prog, const FullyConnectedParams& params,
                      const DebugContext& context, const OptionFlags& options, PlanningCache*) {
  constexpr auto kName = "popsparse::dynamic::embeddingSlice";
  const DebugContext& name = context;
  check_indices(kName, indices);
  const Type type = t.getNzValuesTensor().elementType();
  const SparsePlan plan = make_plan(graph.getTarget(), problem_of(kName, params, type), dynamic_options(options));
  const std::size_t n = indices.numElements(), share = std::max<std::size_t>(1, ceil_div(n, vertices_per_tile(graph.getTarget())));
  const Tensor found = graph.addVariable(type, {plan.row_parts, n * plan.problem.shape.columns}, {name, "rows"});
  const auto part_of_found = [&](std::size_t p) {
    const Interval columns = plan.columns_of(p % plan.column_parts);
    return found[p / plan.column_parts].slice(n * columns.begin(), n * columns.end());
  };
  for (std::size_t p = 0; p < plan.parts(); ++p) graph.setTileMapping(part_of_found(p), plan.tile(p, 0));
  const Step step = [&](Sequence& s, const Tensor& words, const Tensor& values, bool again) {
    const ComputeSet cs = graph.addComputeSet({name, "slice"});
    for (std::size_t p = 0; p < plan.parts(); ++p) {
      const std::size_t width = plan.columns_of(p % plan.column_parts).size();
      for (std::size_t begin = 0; begin < n; begin += share) {
        const std::size_t end = std::min(n, begin + share);
        const VertexRef v = graph.addVertex(cs, templateVertex("popsparse::SparseSlice", type, again),
                                            {{"meta", words[p]},
                                             {"values", values[0][p]},
                                             {"indices", indices.slice(begin, end)},
                                             {"out", part_of_found(p).slice(begin * width, end * width)}});
        set_part(graph, v, plan, p);
        graph.setTileMapping(v, plan.tile(p, 0));
      }
    }
    s.add(Execute(cs, name));
  };
  in_turn(graph, prog, plan, words_of(kName, plan, t.getMetaInfoTensor()), values_of(kName, plan, t.getNzValuesTensor()).expand({0}),
          Values::kRead, step, name);
  // At most one part has a row.
  const Tensor rows = plan.row_parts == 1
                          ? found[0]
                          : popops::reduce(graph, found, type, {0}, popops::ReduceParams(popops::Operation::ADD), prog, {name, "gather"});
  return as_rows(rows, plan, n);
}

void embeddingUpdateAdd(Graph& graph, const SparseTensor& t, const Tensor& slices, const Tensor& indices, const Tensor& scale,
                        Sequence& prog, const FullyConnectedParams& params, const DebugContext& context, const OptionFlags& options,
                        PlanningCache*) {
  constexpr auto kName = "popsparse::dynamic::embeddingUpdateAdd";
  const DebugContext& name = context;
  check_indices(kName, indices);
  const Type type = t.getNzValuesTensor().elementType();
  const SparsePlan plan = make_plan(graph.getTarget(), problem_of(kName, params, type), dynamic_options(options));
  const std::size_t n = indices.numElements();
  if (slices.elementType() != type || slices.shape() != std::vector<std::size_t>{n, plan.problem.shape.columns})
    reject("popsparse-slices", "{}: slices of shape {{{}}} and type {}; expected {{{}, {}}} and {}", kName, fmt::join(slices.shape(), ", "),
           slices.elementType().toString(), n, plan.problem.shape.columns, type.toString());
  if (scale.numElements() != 1 || (scale.elementType() != FLOAT && scale.elementType() != type))
    reject("popsparse-scale", "{}: the scale has {} elements of type {}; expected one of float or of the weights' type", kName,
           scale.numElements(), scale.elementType().toString());
  const std::size_t area = plan.problem.shape.area(), share = ceil_div(plan.bucket_blocks, vertices_per_tile(graph.getTarget()));
  const Step step = [&](Sequence& s, const Tensor& words, const Tensor& values, bool) {
    const ComputeSet cs = graph.addComputeSet({name, "update"});
    for (std::size_t p = 0; p < plan.parts(); ++p)
      for (std::size_t begin = 0; begin < plan.bucket_blocks; begin += share) {
        const std::size_t end = std::min(plan.bucket_blocks, begin + share);
        const VertexRef v = graph.addVertex(cs, templateVertex("popsparse::SparseUpdate", type, scale.elementType()),
                                            {{"meta", words[p]},
                                             {"values", values[0][p].slice(begin * area, end * area)},
                                             {"indices", indices},
                                             {"slices", slices.slice(plan.columns_of(p % plan.column_parts), 1).flatten()},
                                             {"scale", scale.flatten()[0]}});
        set_part(graph, v, plan, p);
        graph.setInitialValue(v["first_block"], static_cast<unsigned>(begin));
        graph.setTileMapping(v, plan.tile(p, 0));
      }
    s.add(Execute(cs, name));
  };
  in_turn(graph, prog, plan, words_of(kName, plan, t.getMetaInfoTensor()), values_of(kName, plan, t.getNzValuesTensor()).expand({0}),
          Values::kChanged, step, name);
}

}  // namespace popsparse::dynamic
