#include <algorithm>

#include <popops/SequenceSlice.hpp>

#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/popops/slice/slice_plan.h"
#include "poplibs/popops/slice/table.h"
#include "poplibs/work.h"

namespace popops {

using namespace poplar;
using internal::as_unsigned;
using internal::slice_error;
using program::Sequence;

namespace {

// Elements of an entry of dimension 0.
std::size_t entry_size(const Tensor& t) {
  std::size_t n = 1;
  for (unsigned d = 1; d < t.rank(); ++d) n *= t.dim(d);
  return n;
}

// For each row of the output the row to read, of `inRows` rows of input and then the output's own.
Tensor rows_to_read(Graph& graph, std::size_t in_rows, std::size_t out_rows, const Tensor& lengths, const Tensor& in_offset,
                    const Tensor& out_offset, bool zero_unused, Sequence& prog, const DebugContext& debug) {
  const unsigned tiles = graph.getTarget().getNumTiles();
  const std::size_t grain =
      std::max<std::size_t>(64, internal::ceil_div(out_rows, tiles * pando::poplibs::vertices_per_tile(graph.getTarget())));
  const Tensor rows = graph.addVariable(UNSIGNED_INT, {out_rows}, {debug, "rows"});
  const ComputeSet cs = graph.addComputeSet({debug, "rows"});
  for (std::size_t begin = 0, i = 0; begin < out_rows; begin += grain, ++i) {
    const Tensor part = rows.slice(begin, std::min(out_rows, begin + grain));
    const unsigned tile = static_cast<unsigned>(i % tiles);
    graph.setTileMapping(part, tile);
    const VertexRef v =
        graph.addVertex(cs, "popops::SequenceRows", {{"lengths", lengths}, {"inRow", in_offset}, {"outRow", out_offset}, {"rows", part}});
    graph.setInitialValue(v["first"], static_cast<unsigned>(begin));
    graph.setInitialValue(v["inRows"], static_cast<unsigned>(in_rows));
    graph.setInitialValue(v["zeroUnused"], zero_unused);
    graph.setTileMapping(v, tile);
  }
  prog.add(program::Execute(cs, {debug}));
  return rows;
}

}  // namespace

void sequenceSlice(Graph& graph, const Tensor& tIn, const Tensor& tOut, const Tensor& tN, const Tensor& tInOffset, const Tensor& tOutOffset,
                   bool zeroUnused, Sequence& prog, const DebugContext& debugContext) {
  const DebugContext debug(debugContext, "sequenceSlice");
  if (tIn.elementType() != tOut.elementType())
    slice_error("sequenceSlice", "the input is " + tIn.elementType().toString() + ", the output " + tOut.elementType().toString());
  if (tIn.rank() == 0 || tOut.rank() == 0 || entry_size(tIn) != entry_size(tOut))
    slice_error("sequenceSlice", "the input has shape " + internal::text(tIn.shape()) + ", the output " + internal::text(tOut.shape()));
  for (const Tensor& t : {tN, tInOffset, tOutOffset}) internal::check_offsets("sequenceSlice", t, {tN.numElements()});
  if (!tOut.isParallelWriteable()) slice_error("sequenceSlice", "the output holds constants, or an element twice");
  if (tOut.numElements() == 0) return;
  const Tensor rows = rows_to_read(graph, tIn.dim(0), tOut.dim(0), as_unsigned(tN), as_unsigned(tInOffset), as_unsigned(tOutOffset),
                                   zeroUnused, prog, debug);
  // One table for what is copied and what stays.
  const std::size_t entry = entry_size(tOut);
  const Tensor in = tIn.reshape({tIn.dim(0), entry});
  const Tensor table = zeroUnused && tIn.dim(0) != 0 ? in : concat(in, tOut.reshape({tOut.dim(0), entry}));
  const internal::SliceProblem problem = internal::problem_of(graph, table.elementType(), table.dim(0), table.dim(1), tOut.dim(0));
  const Tensor out = internal::look_up(graph, table, rows, prog, internal::grid_for(graph, table, table.dim(1), problem), problem, debug);
  prog.add(program::Copy(out.reshape(tOut.shape()), tOut, false, {debug}));
}

}  // namespace popops
