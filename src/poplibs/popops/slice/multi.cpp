// Many slices at offsets.
#include <popops/DynamicSlice.hpp>

#include <algorithm>
#include <array>

#include "poplibs/popops/slice/many.h"
#include "poplibs/popops/slice/slice_plan.h"

namespace popops {

using namespace poplar;
using internal::behind;
using internal::Dims;
using internal::Outside;
using internal::TableShape;
using internal::UpdateOp;
using program::Copy;
using program::Sequence;

namespace {

// A tensor with its groups as one more sliced dimension, of which slice i of group g has offset g.
struct Grouped {
  Dims dims, sizes;
};

Grouped with_group(const Dims& dims, const Dims& sizes) {
  Grouped g{{0}, {1}};
  for (const std::size_t d : dims) g.dims.push_back(d + 1);
  g.sizes.insert(g.sizes.end(), sizes.begin(), sizes.end());
  return g;
}

// {groups, n, dims} -> {groups * n, 1 + dims}
Tensor with_group_offsets(Graph& graph, const Tensor& offsets, const DebugContext& debug) {
  const std::size_t groups = offsets.dim(0), n = offsets.dim(1), d = offsets.dim(2);
  std::vector<unsigned> numbers(groups);
  for (unsigned g = 0; g < groups; ++g) numbers[g] = g;
  const Tensor constant = graph.addConstant(offsets.elementType(), {groups, 1, 1}, numbers, {debug, "groups"});
  graph.setTileMapping(constant, 0);
  return concat(constant.broadcast(static_cast<unsigned>(n), 1), offsets, 2).reshape({groups * n, d + 1});
}

void check_update(const char* function, const Tensor& t, const Tensor& s, const Dims& expected, UpdateOp op, const Tensor& scale) {
  using internal::slice_error;
  if (s.shape() != expected || s.elementType() != t.elementType())
    slice_error(function, "the slices are " + s.elementType().toString() + ' ' + internal::text(s.shape()) + ", expected " +
                              t.elementType().toString() + ' ' + internal::text(expected));
  if (!t.isParallelWriteable()) slice_error(function, "the tensor to update holds constants, or an element twice");
  if (op == UpdateOp::set) return;
  const Type type = t.elementType();
  const std::array types = {FLOAT, HALF,           INT,      UNSIGNED_INT,     CHAR, SIGNED_CHAR, UNSIGNED_CHAR,
                            SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG};
  if (std::find(types.begin(), types.end(), type) == types.end())
    slice_error(function, "the type is " + type.toString() + ", expected float, half or an integer");
  if (op != UpdateOp::add) return;
  if (scale.numElements() != 1) slice_error(function, "the scale has shape " + internal::text(scale.shape()) + ", expected one element");
  if (scale.elementType() != type && !(type == HALF && scale.elementType() == FLOAT))
    slice_error(function, "the scale is " + scale.elementType().toString() + " for " + type.toString() + " slices");
}

Dims tail(const Dims& shape) { return Dims(shape.begin() + (shape.empty() ? 0 : 1), shape.end()); }

std::size_t leading(const Tensor& t) { return t.rank() == 0 ? 0 : t.dim(0); }

void update(const char* function, Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims,
            const Dims& sizes, Sequence& prog, const SlicePlan& plan, const OptionFlags& flags, UpdateOp op, const Tensor& scale,
            const DebugContext& debugContext) {
  internal::check_slicing(function, t.shape(), dims, sizes);
  internal::check_offsets(function, offsets, {leading(offsets), dims.size()});
  check_update(function, t, s, behind(offsets.dim(0), TableShape(t.shape(), dims, sizes).slice_shape), op, scale);
  internal::update_many(graph, t, s, offsets, dims, sizes, Outside::none, prog, plan, flags, op, scale.valid() ? scale.reshape({}) : scale,
                        {debugContext, function});
}

void grouped_update(const char* function, Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims,
                    const Dims& sizes, Sequence& prog, const SlicePlan& plan, const OptionFlags& flags, UpdateOp op, const Tensor& scale,
                    const DebugContext& debugContext) {
  internal::check_slicing(function, tail(t.shape()), dims, sizes);
  const std::size_t n = offsets.rank() < 2 ? 0 : offsets.dim(1);
  internal::check_offsets(function, offsets, {leading(t), n, dims.size()});
  check_update(function, t, s, behind(t.dim(0), behind(n, TableShape(tail(t.shape()), dims, sizes).slice_shape)), op, scale);
  const DebugContext debug(debugContext, function);
  const Grouped g = with_group(dims, sizes);
  const Tensor slices = s.flatten(0, 2).expand({1});
  internal::update_many(graph, t, slices, with_group_offsets(graph, offsets, debug), g.dims, g.sizes, Outside::none, prog, plan, flags, op,
                        scale.valid() ? scale.reshape({}) : scale, debug);
}

Tensor constant_offsets(Graph& graph, ArrayRef<unsigned> offsets, const DebugContext& debug) {
  const Tensor out = graph.addConstant(UNSIGNED_INT, {offsets.size(), 1}, offsets, {debug, "offsets"});
  graph.setTileMapping(out, 0);
  return out;
}

void check_known_offsets(const char* function, const Tensor& t, ArrayRef<unsigned> offsets, std::size_t dim) {
  internal::check_slicing(function, t.shape(), {dim},
                          {t.rank() > dim && t.dim(static_cast<unsigned>(dim)) > 0 ? std::size_t(1) : std::size_t(0)});
  for (const unsigned o : offsets)
    if (o >= t.dim(static_cast<unsigned>(dim)))
      internal::slice_error(function, "offset " + std::to_string(o) + " in dimension " + std::to_string(dim) + " of a tensor of shape " +
                                          internal::text(t.shape()));
}

}  // namespace

Tensor multiSlice(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                  const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  internal::check_slicing("multiSlice", t.shape(), dims, sizes);
  internal::check_offsets("multiSlice", offsets, {leading(offsets), dims.size()});
  return internal::slice_many(graph, t, offsets, dims, sizes, Outside::none, prog, plan, options, {debugContext, "multiSlice"});
}

Tensor groupedMultiSlice(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                         const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  internal::check_slicing("groupedMultiSlice", tail(t.shape()), dims, sizes);
  const std::size_t n = offsets.rank() < 2 ? 0 : offsets.dim(1);
  internal::check_offsets("groupedMultiSlice", offsets, {leading(t), n, dims.size()});
  const DebugContext debug(debugContext, "groupedMultiSlice");
  const Grouped g = with_group(dims, sizes);
  const Tensor out =
      internal::slice_many(graph, t, with_group_offsets(graph, offsets, debug), g.dims, g.sizes, Outside::none, prog, plan, options, debug);
  return out.squeeze({1}).reshapePartial(0, 1, {t.dim(0), n});
}

Tensor multiSlice(Graph& graph, const Tensor& t, ArrayRef<unsigned> offsets, std::size_t dim, Sequence& prog,
                  const DebugContext& debugContext, const OptionFlags& options) {
  check_known_offsets("multiSlice", t, offsets, dim);
  internal::parse_slice_options(options);
  const DebugContext debug(debugContext, "multiSlice");
  const unsigned d = static_cast<unsigned>(dim);
  const Tensor view = offsets.empty() ? t.slice(0, 0, d) : concat(t.slices(offsets, d), d);
  const Tensor out = graph.addVariable(t.elementType(), view.shape(), VariableMappingMethod::LINEAR, {debug, "slices"});
  prog.add(Copy(view, out, false, {debug}));
  return out;
}

void multiUpdate(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                 const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  update("multiUpdate", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::set, {}, debugContext);
}

void groupedMultiUpdate(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                        Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdate", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::set, {}, debugContext);
}

void multiUpdateAdd(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Tensor& scale, const Dims& dims,
                    const Dims& sizes, Sequence& prog, const SlicePlan& plan, const OptionFlags& options,
                    const DebugContext& debugContext) {
  update("multiUpdateAdd", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::add, scale, debugContext);
}

void groupedMultiUpdateAdd(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Tensor& scale, const Dims& dims,
                           const Dims& sizes, Sequence& prog, const SlicePlan& plan, const OptionFlags& options,
                           const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdateAdd", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::add, scale, debugContext);
}

void multiUpdateAdd(Graph& graph, const Tensor& t, const Tensor& s, ArrayRef<unsigned> offsets, const Tensor& scale, std::size_t dim,
                    Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  check_known_offsets("multiUpdateAdd", t, offsets, dim);
  Dims expected = t.shape();
  expected[dim] = offsets.size();
  check_update("multiUpdateAdd", t, s, expected, UpdateOp::add, scale);
  if (offsets.empty()) return;
  const Tensor slices = s.dimRoll(static_cast<unsigned>(dim), 0).expand({static_cast<std::size_t>(dim + 1)});
  multiUpdateAdd(graph, t, slices, constant_offsets(graph, offsets, debugContext), scale, {dim}, {1}, prog, SlicePlan(), options,
                 debugContext);
}

void multiUpdateMax(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                    Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  update("multiUpdateMax", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::max, {}, debugContext);
}

void groupedMultiUpdateMax(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                           Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdateMax", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::max, {}, debugContext);
}

void multiUpdateMin(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                    Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  update("multiUpdateMin", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::min, {}, debugContext);
}

void groupedMultiUpdateMin(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                           Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdateMin", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::min, {}, debugContext);
}

void multiUpdateMul(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                    Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  update("multiUpdateMul", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::multiply, {}, debugContext);
}

void groupedMultiUpdateMul(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                           Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdateMul", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::multiply, {}, debugContext);
}

}  // namespace popops
