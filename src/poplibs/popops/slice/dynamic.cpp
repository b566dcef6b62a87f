// One slice at an offset: dimension by dimension.
#include <algorithm>
#include <numeric>

#include <popops/DynamicSlice.hpp>

#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/popops/slice/slice_plan.h"
#include "poplibs/popops/slice/table.h"

namespace popops {

using namespace poplar;
using internal::as_unsigned;
using internal::Dims;
using internal::TableShape;
using program::Copy;
using program::Sequence;

namespace {

// The order in which to slice: what drops most elements first.
std::vector<std::size_t> by_reduction(const Dims& shape, const Dims& dims, const Dims& sizes) {
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t left = shape[dims[a]] * sizes[b], right = shape[dims[b]] * sizes[a];
    return left != right ? left > right : a < b;
  });
  return order;
}

void check(const char* function, const Tensor& t, const Tensor& offset, const Dims& dims, const Dims& sizes, const OptionFlags& options) {
  internal::check_slicing(function, t.shape(), dims, sizes);
  internal::check_offsets(function, offset, {dims.size()});
  internal::parse_slice_options(options);
}

// The steps of a slice or an update are named after their dimensions.
std::string name_of(const char* function, std::size_t dim) { return function + ("_d" + std::to_string(dim)); }

Tensor slice_one(Graph& graph, const Tensor& t, const Tensor& offset, std::size_t dim, std::size_t size, Sequence& prog,
                 const DebugContext& debug) {
  const TableShape shape(t.shape(), {dim}, {size});
  const Tensor rows = internal::slice_at(graph, shape.table(t), offset, size, shape.inner, prog, {debug, name_of("dynamicSlice", dim)});
  return shape.from_slices(rows, 1).squeeze({0});
}

// Dimensions order[i], order[i + 1] ... of t.
void update_from(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offset, const Dims& dims, const Dims& sizes,
                 const std::vector<std::size_t>& order, std::size_t i, Sequence& prog, const DebugContext& debug) {
  const std::size_t k = order[i];
  Tensor slice = s;
  if (i + 1 < order.size()) {
    slice = slice_one(graph, t, offset[k], dims[k], sizes[k], prog, debug);
    update_from(graph, slice, s, offset, dims, sizes, order, i + 1, prog, debug);
  }
  const TableShape shape(t.shape(), {dims[k]}, {sizes[k]});
  internal::update_at(graph, shape.table(t), shape.slices(slice.expand({0})), offset[k], shape.inner, prog,
                      {debug, name_of("dynamicUpdate", dims[k])});
}

}  // namespace

Tensor dynamicSlice(Graph& graph, const Tensor& t, const Tensor& offset, const Dims& dims, const Dims& sizes, Sequence& prog,
                    const DebugContext& debugContext, const OptionFlags& options) {
  check("dynamicSlice", t, offset, dims, sizes, options);
  Tensor out = t;
  for (const std::size_t k : by_reduction(t.shape(), dims, sizes))
    out = slice_one(graph, out, as_unsigned(offset)[k], dims[k], sizes[k], prog, debugContext);
  if (!dims.empty()) return out;
  const DebugContext debug(debugContext, "dynamicSlice");
  out = graph.clone(t, {debug, "slice"});
  prog.add(Copy(t, out, false, {debug}));
  return out;
}

Tensor createDynamicSliceOutput(Graph& graph, const Tensor& t, const Tensor& offset, const Dims& dims, const Dims& sizes,
                                const DebugContext& debugContext, const OptionFlags& options) {
  check("createDynamicSliceOutput", t, offset, dims, sizes, options);
  return createSliceTensor(graph, t, dims, sizes, 1, debugContext).squeeze({0});
}

void dynamicSliceWithOutput(Graph& graph, const Tensor& output, const Tensor& t, const Tensor& offset, const Dims& dims, const Dims& sizes,
                            Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  check("dynamicSliceWithOutput", t, offset, dims, sizes, options);
  const TableShape shape(t.shape(), dims, sizes);
  if (output.shape() != shape.slice_shape || output.elementType() != t.elementType())
    internal::slice_error("dynamicSliceWithOutput", "the output is " + output.elementType().toString() + ' ' +
                                                        internal::text(output.shape()) + ", expected " + t.elementType().toString() + ' ' +
                                                        internal::text(shape.slice_shape));
  const Tensor slice = dynamicSlice(graph, t, offset, dims, sizes, prog, debugContext, options);
  prog.add(Copy(slice, output, false, debugContext));
}

Graph::TileToTensorMapping getSliceMapping(Graph& graph, const Tensor& t, const Dims& dims, const Dims& sizes) {
  internal::check_slicing("getSliceMapping", t.shape(), dims, sizes);
  Tensor slice = t;
  for (std::size_t i = 0; i < dims.size(); ++i) slice = slice.slice(0, sizes[i], static_cast<unsigned>(dims[i]));
  return graph.getTileMapping(slice);
}

void dynamicUpdate(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offset, const Dims& dims, const Dims& sizes,
                   Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  check("dynamicUpdate", t, offset, dims, sizes, options);
  const TableShape shape(t.shape(), dims, sizes);
  if (s.shape() != shape.slice_shape || s.elementType() != t.elementType())
    internal::slice_error("dynamicUpdate", "the slice is " + s.elementType().toString() + ' ' + internal::text(s.shape()) + ", expected " +
                                               t.elementType().toString() + ' ' + internal::text(shape.slice_shape));
  if (!t.isParallelWriteable()) internal::slice_error("dynamicUpdate", "the tensor to update holds constants, or an element twice");
  if (dims.empty()) return prog.add(Copy(s, t, false, {debugContext, "dynamicUpdate"}));
  update_from(graph, t, s, as_unsigned(offset), dims, sizes, by_reduction(t.shape(), dims, sizes), 0, prog, debugContext);
}

}  // namespace popops
