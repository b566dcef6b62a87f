#include <algorithm>

#include <popops/Scatter.hpp>

#include "poplibs/popops/slice/many.h"
#include "poplibs/popops/slice/xla_dims.h"

namespace popops {

using namespace poplar;
using internal::Dims;
using internal::Outside;
using internal::slice_error;
using internal::UpdateOp;
using program::Copy;
using program::Sequence;

namespace {

// A scatter as slices of the operand: update i goes to offsets[i].
struct Slices {
  Tensor operand;  // what slices can reach
  Tensor offsets;  // {n, dims.size()}
  Tensor updates;  // {n, slice shape}
  Dims dims, sizes;
  Dims window;  // shape of an update, without the inserted dimensions
};

Slices as_slices(const Tensor& operand, const Tensor& indices, const Tensor& updates, std::size_t vector_dim,
                 std::vector<unsigned> window_dims, const Dims& insert_dims, const std::vector<unsigned>& to_operand) {
  const char* function = "scatter";
  Slices s;
  // A dimension right behind the updates' last one has one element, as that of index vectors may have: an inserted one.
  if (insert_dims.size() + window_dims.size() > operand.rank()) std::erase(window_dims, updates.rank());
  s.dims.assign(to_operand.begin(), to_operand.end());
  const Dims windows(window_dims.begin(), window_dims.end());
  if (updates.elementType() != operand.elementType())
    slice_error(function, "updates are " + updates.elementType().toString() + ", the operand is " + operand.elementType().toString());
  if (!operand.isParallelWriteable()) slice_error(function, "the operand holds constants, or an element twice");
  if (!internal::are_dims(s.dims, operand.rank()))
    slice_error(function, "scatterDimsToOperandDims does not hold different dimensions of the operand");
  if (!internal::are_dims(insert_dims, operand.rank()))
    slice_error(function, "insertWindowDims does not hold different dimensions of the operand");
  if (!internal::are_dims(windows, updates.rank()))
    slice_error(function, "updateWindowDims does not hold different dimensions of the updates");
  if (windows.size() + insert_dims.size() != operand.rank())
    slice_error(function, std::to_string(windows.size()) + " dimensions of windows and " + std::to_string(insert_dims.size()) +
                              " inserted ones for an operand of shape " + internal::text(operand.shape()));
  const Tensor vectors = internal::index_vectors(function, indices, vector_dim, s.dims.size());

  // Updates: the index dimensions first, then the window's in order.
  std::vector<unsigned> order;
  Dims batch;
  for (unsigned d = 0; d < updates.rank(); ++d)
    if (std::find(windows.begin(), windows.end(), d) == windows.end()) order.push_back(d), batch.push_back(updates.dim(d));
  Dims expected = vectors.shape();
  expected.pop_back();
  if (batch != expected)
    slice_error(function,
                "updates of shape " + internal::text(updates.shape()) + " for index vectors of shape " + internal::text(expected));
  for (const unsigned d : window_dims) order.push_back(d), s.window.push_back(updates.dim(d));
  std::size_t n = 1;
  for (const std::size_t b : batch) n *= b;
  s.offsets = vectors.reshape({n, s.dims.size()});

  Dims slice = {n};
  s.operand = operand;
  for (std::size_t d = 0, w = 0; d < operand.rank(); ++d) {
    const bool inserted = std::find(insert_dims.begin(), insert_dims.end(), d) != insert_dims.end();
    slice.push_back(inserted ? 1 : s.window[w++]);
    if (slice.back() > operand.dim(static_cast<unsigned>(d)))
      slice_error(function, "windows of " + internal::text(s.window) + " for an operand of shape " + internal::text(operand.shape()));
    if (std::find(s.dims.begin(), s.dims.end(), d) == s.dims.end()) s.operand = s.operand.slice(0, slice.back(), static_cast<unsigned>(d));
  }
  for (const std::size_t d : s.dims) s.sizes.push_back(slice[d + 1]);
  s.updates = updates.dimShuffle(order).reshape(slice);
  return s;
}

// The offsets, moved back so that slices lie inside.
Tensor clamped(Graph& graph, const Slices& s, Sequence& prog, const DebugContext& debug) {
  std::vector<Tensor> columns;
  const std::size_t n = s.offsets.dim(0);
  for (std::size_t k = 0; k < s.dims.size(); ++k) {
    const std::size_t dim = s.operand.dim(static_cast<unsigned>(s.dims[k]));
    const Tensor rows = internal::rows_of(graph, s.offsets.slice(k, k + 1, 1), {dim}, {s.sizes[k]}, Outside::clamp, prog, debug);
    columns.push_back(rows.reshape({n, s.sizes[k]}).slice(0, 1, 1));
  }
  return concat(columns, 1);
}

}  // namespace

void scatter(Graph& graph, const Tensor& operand, const Tensor& indices, const Tensor& updates, std::size_t indexVectorDim,
             std::vector<unsigned> updateWindowDims, std::vector<std::size_t> insertWindowDims,
             std::vector<unsigned> scatterDimsToOperandDims, Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  const Slices s = as_slices(operand, indices, updates, indexVectorDim, updateWindowDims, insertWindowDims, scatterDimsToOperandDims);
  internal::update_many(graph, s.operand, s.updates, s.offsets, s.dims, s.sizes, Outside::all, prog, SlicePlan(), options, UpdateOp::set,
                        {}, {debugContext, "scatter"});
}

void scatter(Graph& graph, const Tensor& operand, const Tensor& indices, const Tensor& updates, std::size_t indexVectorDim,
             std::vector<unsigned> updateWindowDims, std::vector<std::size_t> insertWindowDims,
             std::vector<unsigned> scatterDimsToOperandDims, UpdateComputationFunc& updateComputation, Sequence& prog,
             const DebugContext& debugContext, const OptionFlags& options) {
  const Slices s = as_slices(operand, indices, updates, indexVectorDim, updateWindowDims, insertWindowDims, scatterDimsToOperandDims);
  const std::size_t n = s.offsets.dim(0);
  if (n == 0 || s.updates.numElements() == 0) return;
  const DebugContext debug(debugContext, "scatter");
  const Tensor counter = graph.addVariable(UNSIGNED_INT, {1}, {debug, "counter"}),
               zero = graph.addConstant(UNSIGNED_INT, {1}, 0, {debug, "zero"});
  graph.setTileMapping(counter, 0);
  graph.setTileMapping(zero, 0);
  prog.add(Copy(zero, counter, false, {debug}));
  const Tensor offsets = s.dims.empty() ? s.offsets : clamped(graph, s, prog, debug);

  Sequence body;
  const Tensor offset =
      s.dims.empty() ? s.offsets.flatten().slice(0, 0) : dynamicSlice(graph, offsets, counter, {0}, {1}, body, debug).flatten();
  Tensor update = dynamicSlice(graph, s.updates, counter, {0}, {1}, body, debug).reshape(s.window);
  const Tensor slice = dynamicSlice(graph, s.operand, offset, s.dims, s.sizes, body, debug, options);
  Tensor present = slice.reshape(s.window);
  const Tensor result = updateComputation(graph, present, update, body);
  if (result.shape() != s.window || result.elementType() != operand.elementType())
    slice_error("scatter", "the update computation returned " + result.elementType().toString() + ' ' + internal::text(result.shape()) +
                               ", expected " + operand.elementType().toString() + ' ' + internal::text(s.window));
  dynamicUpdate(graph, s.operand, result.reshape(slice.shape()), offset, s.dims, s.sizes, body, debug, options);
  const ComputeSet step = graph.addComputeSet({debug, "step"});
  graph.setTileMapping(graph.addVertex(step, "popops::CountUp", {{"counter", counter[0]}}), 0);
  body.add(program::Execute(step, {debug}));
  prog.add(program::Repeat(static_cast<unsigned>(n), body, {debug}));
}

}  // namespace popops
