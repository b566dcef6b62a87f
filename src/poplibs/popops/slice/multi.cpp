// Many slices at offsets.
#include <algorithm>

#include <popops/DynamicSlice.hpp>

#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/popops/slice/slice_plan.h"
#include "poplibs/popops/slice/table.h"
#include "poplibs/work.h"

namespace popops {

using namespace poplar;
using internal::Dims;
using internal::Grid;
using internal::Outside;
using internal::SliceOptions;
using internal::SliceProblem;
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

struct Request {
  Request(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, const SlicePlan& plan, const OptionFlags& flags)
      : shape(t.shape(), dims, sizes), table(shape.table(t)), options(internal::parse_slice_options(flags)) {
    problem = internal::problem_of(graph, t.elementType(), shape.rows, shape.columns, offsets.dim(0) * shape.window);
    const auto planned = graph.getTarget().getNumTiles() == 1 ? nullptr : internal::grid_of(plan, shape.rows, shape.columns);
    problem.memory = flags.contains("availableMemoryProportion") ? options.memory : planned ? plan.getImpl().problem.memory : options.memory;
    if (planned) grid = *planned;
  }

  void choose(const Graph& graph) {
    if (grid.blocks.empty() && shape.rows * shape.columns * problem.lookups != 0) grid = internal::grid_for(graph, table, shape.inner, problem);
  }

  TableShape shape;
  Tensor table;
  SliceOptions options;
  SliceProblem problem;
  Grid grid;
};

// Stops the program if an offset is outside its dimension.
void validate(Graph& graph, const Tensor& offsets, const Dims& dims, Sequence& prog, const DebugContext& debug) {
  if (offsets.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet({debug, "validate"});
  const Tensor bits = offsets.elementType() == INT ? offsets.reinterpret(UNSIGNED_INT) : offsets;
  const unsigned tiles = graph.getTarget().getNumTiles();
  const std::size_t n = offsets.dim(0), grain = std::max<std::size_t>(64, internal::ceil_div(n, tiles * pando::poplibs::vertices_per_tile(graph.getTarget())));
  const std::vector<unsigned> d(dims.begin(), dims.end());
  for (std::size_t begin = 0, i = 0; begin < n; begin += grain, ++i) {
    const VertexRef v = graph.addVertex(cs, "popops::CheckRows", {{"offsets", bits.slice(begin, std::min(n, begin + grain)).flatten()}});
    graph.setInitialValue(v["dims"], ArrayRef<unsigned>(d));
    graph.setTileMapping(v, static_cast<unsigned>(i % tiles));
  }
  const Tensor good = graph.addVariable(BOOL, {}, {debug, "valid"});
  graph.setTileMapping(good, 0);
  prog.add(program::Execute(cs, good, {debug}));
  prog.add(program::If(good, Sequence(), program::ErrorProgram("an index is outside the sliced dimension", offsets, {debug}), {debug}));
}

Tensor row_numbers(Graph& graph, const Request& r, const Tensor& offsets, bool slicing, Sequence& prog, const DebugContext& debug) {
  if (r.options.validate) validate(graph, offsets, r.shape.row_dims, prog, debug);
  return internal::rows_of(graph, offsets, r.shape.row_dims, r.shape.sizes, slicing && r.options.remap ? Outside::first : Outside::none, prog, debug);
}

Tensor slice_all(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog, const SlicePlan& plan,
                 const OptionFlags& flags, const DebugContext& debug) {
  Request r(graph, t, offsets, dims, sizes, plan, flags);
  r.problem.update = false;
  r.choose(graph);
  const Tensor rows = row_numbers(graph, r, offsets, true, prog, debug);
  if (r.grid.blocks.empty()) {  // nothing to look up, or nowhere
    const Tensor none = graph.addVariable(t.elementType(), {rows.numElements(), r.shape.columns}, VariableMappingMethod::LINEAR, {debug, "slices"});
    if (none.numElements() != 0) {
      const Tensor zero = graph.addConstant(t.elementType(), {1}, 0, {debug, "zero"});
      graph.setTileMapping(zero, 0);
      prog.add(Copy(zero.broadcast(static_cast<unsigned>(none.numElements()), 0), none.flatten(), false, {debug}));
    }
    return r.shape.from_slices(none, offsets.dim(0));
  }
  return r.shape.from_slices(internal::look_up(graph, r.table, rows, prog, r.grid, r.problem, debug), offsets.dim(0));
}

void update_all(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                const SlicePlan& plan, const OptionFlags& flags, UpdateOp op, const Tensor& scale, const DebugContext& debug) {
  Request r(graph, t, offsets, dims, sizes, plan, flags);
  r.problem.slice = false;
  r.problem.update = true;
  r.choose(graph);
  const Tensor rows = row_numbers(graph, r, offsets, false, prog, debug);
  if (r.grid.blocks.empty()) return;
  internal::update_rows(graph, r.table, r.shape.slices(s), rows, prog, r.grid, r.problem, op, scale, debug);
}

void check_update(const char* function, const Tensor& t, const Tensor& s, const Dims& expected, UpdateOp op, const Tensor& scale) {
  using internal::slice_error;
  if (s.shape() != expected || s.elementType() != t.elementType())
    slice_error(function, "the slices are " + s.elementType().toString() + ' ' + internal::text(s.shape()) + ", expected " + t.elementType().toString() + ' ' +
                              internal::text(expected));
  if (!t.isParallelWriteable()) slice_error(function, "the tensor to update holds constants, or an element twice");
  if (op == UpdateOp::set) return;
  const Type type = t.elementType();
  if (type != FLOAT && type != HALF && type != INT && type != UNSIGNED_INT)
    slice_error(function, "the type is " + type.toString() + ", expected float, half, int or unsigned int");
  if (op != UpdateOp::add) return;
  if (scale.numElements() != 1) slice_error(function, "the scale has shape " + internal::text(scale.shape()) + ", expected one element");
  if (scale.elementType() != type && !(type == HALF && scale.elementType() == FLOAT))
    slice_error(function, "the scale is " + scale.elementType().toString() + " for " + type.toString() + " slices");
}

Dims behind(std::size_t n, const Dims& shape) {
  Dims out = {n};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

Dims tail(const Dims& shape) { return Dims(shape.begin() + (shape.empty() ? 0 : 1), shape.end()); }

std::size_t leading(const Tensor& t) { return t.rank() == 0 ? 0 : t.dim(0); }

void update(const char* function, Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
            const SlicePlan& plan, const OptionFlags& flags, UpdateOp op, const Tensor& scale, const DebugContext& debugContext) {
  internal::check_slicing(function, t.shape(), dims, sizes);
  internal::check_offsets(function, offsets, {leading(offsets), dims.size()});
  check_update(function, t, s, behind(offsets.dim(0), TableShape(t.shape(), dims, sizes).slice_shape), op, scale);
  update_all(graph, t, s, offsets, dims, sizes, prog, plan, flags, op, scale.valid() ? scale.reshape({}) : scale, {debugContext, function});
}

void grouped_update(const char* function, Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                    Sequence& prog, const SlicePlan& plan, const OptionFlags& flags, UpdateOp op, const Tensor& scale, const DebugContext& debugContext) {
  internal::check_slicing(function, tail(t.shape()), dims, sizes);
  const std::size_t n = offsets.rank() < 2 ? 0 : offsets.dim(1);
  internal::check_offsets(function, offsets, {leading(t), n, dims.size()});
  check_update(function, t, s, behind(t.dim(0), behind(n, TableShape(tail(t.shape()), dims, sizes).slice_shape)), op, scale);
  const DebugContext debug(debugContext, function);
  const Grouped g = with_group(dims, sizes);
  const Tensor slices = s.flatten(0, 2).expand({1});
  update_all(graph, t, slices, with_group_offsets(graph, offsets, debug), g.dims, g.sizes, prog, plan, flags, op, scale.valid() ? scale.reshape({}) : scale, debug);
}

Tensor constant_offsets(Graph& graph, ArrayRef<unsigned> offsets, const DebugContext& debug) {
  const Tensor out = graph.addConstant(UNSIGNED_INT, {offsets.size(), 1}, offsets, {debug, "offsets"});
  graph.setTileMapping(out, 0);
  return out;
}

void check_known_offsets(const char* function, const Tensor& t, ArrayRef<unsigned> offsets, std::size_t dim) {
  internal::check_slicing(function, t.shape(), {dim}, {t.rank() > dim && t.dim(static_cast<unsigned>(dim)) > 0 ? std::size_t(1) : std::size_t(0)});
  for (const unsigned o : offsets)
    if (o >= t.dim(static_cast<unsigned>(dim)))
      internal::slice_error(function, "offset " + std::to_string(o) + " in dimension " + std::to_string(dim) + " of a tensor of shape " + internal::text(t.shape()));
}

}  // namespace

Tensor multiSlice(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog, const SlicePlan& plan,
                  const OptionFlags& options, const DebugContext& debugContext) {
  internal::check_slicing("multiSlice", t.shape(), dims, sizes);
  internal::check_offsets("multiSlice", offsets, {leading(offsets), dims.size()});
  return slice_all(graph, t, offsets, dims, sizes, prog, plan, options, {debugContext, "multiSlice"});
}

Tensor groupedMultiSlice(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                         const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  internal::check_slicing("groupedMultiSlice", tail(t.shape()), dims, sizes);
  const std::size_t n = offsets.rank() < 2 ? 0 : offsets.dim(1);
  internal::check_offsets("groupedMultiSlice", offsets, {leading(t), n, dims.size()});
  const DebugContext debug(debugContext, "groupedMultiSlice");
  const Grouped g = with_group(dims, sizes);
  const Tensor out = slice_all(graph, t, with_group_offsets(graph, offsets, debug), g.dims, g.sizes, prog, plan, options, debug);
  return out.squeeze({1}).reshapePartial(0, 1, {t.dim(0), n});
}

Tensor multiSlice(Graph& graph, const Tensor& t, ArrayRef<unsigned> offsets, std::size_t dim, Sequence& prog, const DebugContext& debugContext,
                  const OptionFlags& options) {
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

void groupedMultiUpdate(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                        const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdate", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::set, {}, debugContext);
}

void multiUpdateAdd(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Tensor& scale, const Dims& dims, const Dims& sizes,
                    Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  update("multiUpdateAdd", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::add, scale, debugContext);
}

void groupedMultiUpdateAdd(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Tensor& scale, const Dims& dims,
                           const Dims& sizes, Sequence& prog, const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdateAdd", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::add, scale, debugContext);
}

void multiUpdateAdd(Graph& graph, const Tensor& t, const Tensor& s, ArrayRef<unsigned> offsets, const Tensor& scale, std::size_t dim, Sequence& prog,
                    const DebugContext& debugContext, const OptionFlags& options) {
  check_known_offsets("multiUpdateAdd", t, offsets, dim);
  Dims expected = t.shape();
  expected[dim] = offsets.size();
  check_update("multiUpdateAdd", t, s, expected, UpdateOp::add, scale);
  if (offsets.empty()) return;
  const Tensor slices = s.dimRoll(static_cast<unsigned>(dim), 0).expand({static_cast<std::size_t>(dim + 1)});
  multiUpdateAdd(graph, t, slices, constant_offsets(graph, offsets, debugContext), scale, {dim}, {1}, prog, SlicePlan(), options, debugContext);
}

void multiUpdateMax(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                    const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  update("multiUpdateMax", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::max, {}, debugContext);
}

void groupedMultiUpdateMax(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                           const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdateMax", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::max, {}, debugContext);
}

void multiUpdateMul(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                    const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  update("multiUpdateMul", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::multiply, {}, debugContext);
}

void groupedMultiUpdateMul(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes, Sequence& prog,
                           const SlicePlan& plan, const OptionFlags& options, const DebugContext& debugContext) {
  grouped_update("groupedMultiUpdateMul", graph, t, s, offsets, dims, sizes, prog, plan, options, UpdateOp::multiply, {}, debugContext);
}

}  // namespace popops
