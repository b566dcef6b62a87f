// Many slices at offsets: the table, its grid and the row numbers.
#include "poplibs/popops/slice/many.h"

#include <algorithm>

#include "poplibs/popops/slice/slice_plan.h"
#include "poplibs/work.h"

namespace popops::internal {

using namespace poplar;
using program::Copy;
using program::Sequence;

namespace {

struct Request {
  Request(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, const SlicePlan& plan,
          const OptionFlags& flags)
      : shape(t.shape(), dims, sizes), table(shape.table(t)), options(parse_slice_options(flags)) {
    problem = problem_of(graph, t.elementType(), shape.rows, shape.columns, offsets.dim(0) * shape.window);
    const auto planned = graph.getTarget().getNumTiles() == 1 ? nullptr : grid_of(plan, shape.rows, shape.columns);
    problem.memory = flags.contains("availableMemoryProportion") ? options.memory
                     : planned                                   ? plan.getImpl().problem.memory
                                                                 : options.memory;
    problem.host = flags.contains("pando.planObjective") || !planned ? options.host : plan.getImpl().problem.host;
    if (planned) grid = as_it_lies(graph, table, *planned);
  }

  void choose(const Graph& graph) {
    if (grid.blocks.empty() && shape.rows * shape.columns * problem.lookups != 0) grid = grid_for(graph, table, shape.inner, problem);
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
  const std::size_t n = offsets.dim(0),
                    grain = std::max<std::size_t>(64, ceil_div(n, tiles * pando::poplibs::vertices_per_tile(graph.getTarget())));
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

Tensor row_numbers(Graph& graph, const Request& r, const Tensor& offsets, Outside outside, Sequence& prog, const DebugContext& debug) {
  if (r.options.validate) validate(graph, offsets, r.shape.row_dims, prog, debug);
  return rows_of(graph, offsets, r.shape.row_dims, r.shape.sizes, outside, prog, debug);
}

}  // namespace

Tensor slice_many(Graph& graph, const Tensor& t, const Tensor& offsets, const Dims& dims, const Dims& sizes, Outside outside,
                  Sequence& prog, const SlicePlan& plan, const OptionFlags& flags, const DebugContext& debug) {
  Request r(graph, t, offsets, dims, sizes, plan, flags);
  r.problem.update = false;
  r.choose(graph);
  const Tensor rows = row_numbers(graph, r, offsets, outside == Outside::none && r.options.remap ? Outside::first : outside, prog, debug);
  if (r.grid.blocks.empty()) {  // nothing to look up, or nowhere
    const Tensor none =
        graph.addVariable(t.elementType(), {rows.numElements(), r.shape.columns}, VariableMappingMethod::LINEAR, {debug, "slices"});
    if (none.numElements() != 0) {
      const Tensor zero = graph.addConstant(t.elementType(), {1}, 0, {debug, "zero"});
      graph.setTileMapping(zero, 0);
      prog.add(Copy(zero.broadcast(static_cast<unsigned>(none.numElements()), 0), none.flatten(), false, {debug}));
    }
    return r.shape.from_slices(none, offsets.dim(0));
  }
  return r.shape.from_slices(look_up(graph, r.table, rows, prog, r.grid, r.problem, debug), offsets.dim(0));
}

void update_many(Graph& graph, const Tensor& t, const Tensor& s, const Tensor& offsets, const Dims& dims, const Dims& sizes,
                 Outside outside, Sequence& prog, const SlicePlan& plan, const OptionFlags& flags, UpdateOp op, const Tensor& scale,
                 const DebugContext& debug) {
  Request r(graph, t, offsets, dims, sizes, plan, flags);
  r.problem.slice = false;
  r.problem.update = true;
  r.choose(graph);
  const Tensor rows = row_numbers(graph, r, offsets, outside, prog, debug);
  if (r.grid.blocks.empty()) return;
  update_rows(graph, r.table, r.shape.slices(s), rows, prog, r.grid, r.problem, op, scale, debug);
}

}  // namespace popops::internal
