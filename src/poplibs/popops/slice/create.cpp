// Tensors that are good to slice.
#include <pando/placing.hpp>
#include <popops/DynamicSlice.hpp>

#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/popops/slice/slice_plan.h"
#include "poplibs/popops/slice/table.h"

namespace popops {

using namespace poplar;
using internal::behind;
using internal::Dims;
using internal::Grid;
using internal::TableShape;

namespace {

Dims plus_one(const Dims& dims) {
  Dims out = {0};
  for (const std::size_t d : dims) out.push_back(d + 1);
  return out;
}

Grid grid_for_shape(const Graph& graph, const Type& type, const TableShape& shape, const SlicePlan& plan, std::size_t grain) {
  if (const auto planned = internal::grid_of(plan, shape.rows, shape.columns)) return *planned;
  if (grain == 0) grain = internal::column_grain(shape.columns, graph.getTarget().getTypeSize(type));
  return internal::default_grid(graph.getTarget(), shape.rows, shape.columns, grain);
}

Tensor empty(Graph& graph, const Type& type, const Dims& shape, const DebugContext& debug) {
  return graph.addVariable(type, shape, VariableMappingMethod::LINEAR, debug);
}

Tensor sliceable(Graph& graph, const Type& type, const Dims& shape, const Dims& dims, const Dims& sizes, const SlicePlan& plan,
                 std::size_t grain, const DebugContext& debug) {
  const TableShape table(shape, dims, sizes);
  if (table.rows * table.columns == 0) return empty(graph, type, shape, debug);
  const Grid grid = internal::where_room_is(graph, type, grid_for_shape(graph, type, table, plan, grain));
  const Tensor made = table.tensor(internal::create_table(graph, type, grid, debug));
  pando::count_as_created(graph, made);
  return made;
}

Tensor slices(Graph& graph, const Type& type, const Dims& shape, const Dims& dims, const Dims& sizes, std::size_t n, const SlicePlan& plan,
              const DebugContext& debug) {
  const TableShape table(shape, dims, sizes);
  if (n * table.window * table.columns == 0) return empty(graph, type, behind(n, table.slice_shape), debug);
  const Grid grid = internal::for_updates(grid_for_shape(graph, type, table, plan, 0), plan.getImpl().problem);
  return table.from_slices(internal::create_slices(graph, type, grid, n * table.window, debug), n);
}

}  // namespace

Tensor createSliceableTensor(Graph& graph, const Type& type, const Dims& shape, const Dims& dims, const Dims& sizes,
                             std::size_t minGrainSize, const DebugContext& debugContext) {
  internal::check_slicing("createSliceableTensor", shape, dims, sizes);
  return sliceable(graph, type, shape, dims, sizes, SlicePlan(), minGrainSize, debugContext);
}

Tensor createSliceableTensor(Graph& graph, const Type& type, const Dims& shape, const Dims& dims, const Dims& sizes, const SlicePlan& plan,
                             const OptionFlags& options, const DebugContext& debugContext) {
  internal::check_slicing("createSliceableTensor", shape, dims, sizes);
  internal::parse_slice_options(options);
  return sliceable(graph, type, shape, dims, sizes, plan, 0, debugContext);
}

Tensor createGroupedSliceableTensor(Graph& graph, const Type& type, const std::size_t groupSize, const Dims& shape, const Dims& dims,
                                    const Dims& sizes, const SlicePlan& plan, const OptionFlags& options,
                                    const DebugContext& debugContext) {
  internal::check_slicing("createGroupedSliceableTensor", shape, dims, sizes);
  internal::parse_slice_options(options);
  return sliceable(graph, type, behind(groupSize, shape), plus_one(dims), behind(1, sizes), plan, 0, debugContext);
}

Tensor createSliceTensor(Graph& graph, const Tensor& t, const Dims& dims, const Dims& sizes, std::size_t numIndices,
                         const DebugContext& debugContext) {
  internal::check_slicing("createSliceTensor", t.shape(), dims, sizes);
  const TableShape shape(t.shape(), dims, sizes);
  Grid grid;
  if (numIndices * shape.window * shape.columns == 0 || shape.rows == 0 ||
      !internal::columns_are_local(graph, shape.table(t), shape.inner, grid))
    return slices(graph, t.elementType(), t.shape(), dims, sizes, numIndices, SlicePlan(), debugContext);
  return shape.from_slices(internal::create_slices(graph, t.elementType(), grid, numIndices * shape.window, debugContext), numIndices);
}

Tensor createSliceTensor(Graph& graph, const Type& type, const Dims& shape, const Dims& dims, const Dims& sizes, std::size_t numIndices,
                         const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  internal::check_slicing("createSliceTensor", shape, dims, sizes);
  internal::parse_slice_options(options);
  return slices(graph, type, shape, dims, sizes, numIndices, plan, debugContext);
}

Tensor createGroupedSliceTensor(Graph& graph, const Type& type, const std::size_t groupSize, const Dims& shape, const Dims& dims,
                                const Dims& sizes, const std::size_t numIndices, const SlicePlan& plan, const OptionFlags& options,
                                const DebugContext& debugContext) {
  internal::check_slicing("createGroupedSliceTensor", shape, dims, sizes);
  internal::parse_slice_options(options);
  const Tensor all =
      slices(graph, type, behind(groupSize, shape), plus_one(dims), behind(1, sizes), groupSize * numIndices, plan, debugContext);
  return all.squeeze({1}).reshapePartial(0, 1, {groupSize, numIndices});
}

Tensor createIndicesTensor(Graph& graph, const Dims& dims, std::size_t numIndices, const SlicePlan& plan, const OptionFlags& options,
                           const DebugContext& debugContext) {
  internal::parse_slice_options(options);
  const SlicePlanInternal& p = plan.getImpl();
  const auto grid = internal::grid_of(plan, p.problem.rows, p.problem.columns);
  if (dims.size() == 1 && grid && numIndices > 0)
    return internal::create_rows(graph, *grid, numIndices, debugContext).reshape({numIndices, 1});
  return graph.addVariable(UNSIGNED_INT, {numIndices, dims.size()}, VariableMappingMethod::LINEAR, debugContext);
}

Tensor createGroupedIndicesTensor(Graph& graph, const std::size_t groupSize, const Dims& dims, const std::size_t numIndices,
                                  const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  return createIndicesTensor(graph, dims, groupSize * numIndices, plan, options, debugContext)
      .reshape({groupSize, numIndices, dims.size()});
}

Tensor createSliceableTensorFromSlice(Graph& graph, const Tensor& s, const Dims& dims, const Dims& numSlices,
                                      const DebugContext& debugContext) {
  if (dims.size() != numSlices.size()) internal::slice_error("createSliceableTensorFromSlice", "dims and numSlices differ in length");
  internal::check_slicing("createSliceableTensorFromSlice", s.shape(), dims, Dims(dims.size(), 0));
  std::size_t n = 1;
  for (const std::size_t k : numSlices) n *= k;
  Dims shape = s.shape();
  for (std::size_t i = 0; i < dims.size(); ++i) shape[dims[i]] *= numSlices[i];
  if (n == 0 || s.numElements() == 0) return empty(graph, s.elementType(), shape, debugContext);
  // {numSlices..., s...}, then each count beside its dimension.
  Dims split = numSlices;
  const Dims own = s.shape();
  split.insert(split.end(), own.begin(), own.end());
  Tensor out = graph.cloneN(s, n, debugContext).reshape(split);
  std::vector<unsigned> order;
  for (unsigned d = 0; d < own.size(); ++d) {
    for (unsigned i = 0; i < dims.size(); ++i)
      if (dims[i] == d) order.push_back(i);
    order.push_back(static_cast<unsigned>(dims.size()) + d);
  }
  return out.dimShuffle(order).reshape(shape);
}

}  // namespace popops
