// Collectives between parts of one graph.
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <limits>
#include <tuple>

#include "groups.h"
#include "poplibs/poputil/reject.h"

namespace gcl {

using namespace poplar;
using poputil::poplibs_error;

namespace {

void check_parts(const Graph& graph, const char* where, const Tensor& t, CollectiveOperator op) {
  if (t.rank() == 0 || t.dim(0) == 0)
    poputil::reject("parts-shape", "{}",
                    std::string("gcl::") + where + ": parts of shape " + t.shapeToString() + "; expected {number of parts, ...}");
  if (t.dim(0) > graph.getTarget().getNumTiles())
    poputil::reject("more-parts-than-tiles", "gcl::{}: {} parts, which lie on IPUs of their own; there are {} tiles", where, t.dim(0),
                    graph.getTarget().getNumTiles());
  if (op == CollectiveOperator::LOCAL)
    poputil::reject("local-operator", "{}", std::string("gcl::") + where + ": LOCAL combines nothing within a replica");
}

// The tiles of the IPU that the tensor's first element is on.
Interval tiles_near(const Graph& graph, const Tensor& t) {
  const Graph::TileToTensorMapping mapping = graph.getTileMapping(t);
  const auto used = std::find_if(mapping.begin(), mapping.end(), [](const std::vector<Interval>& i) { return !i.empty(); });
  const std::size_t tiles = graph.getTarget().getTilesPerIPU(), ipu = static_cast<std::size_t>(used - mapping.begin()) / tiles;
  return {ipu * tiles, (ipu + 1) * tiles};
}

}  // namespace

Tensor concatChunks(Chunks chunks) {
  if (chunks.chunks.empty()) poputil::reject("no-chunks", "gcl::concatChunks: there are no chunks");
  // Parts that all begin at 0 are in the order of their indices.
  std::sort(chunks.chunks.begin(), chunks.chunks.end(),
            [](const Chunk& a, const Chunk& b) { return std::tie(a.offset, a.index) < std::tie(b.offset, b.index); });
  std::vector<Tensor> parts;
  for (const Chunk& c : chunks.chunks) parts.push_back(c.tensor.flatten());
  return concat(parts);
}

Tensor allReduceWithinReplica(Graph& graph, const Tensor& toReduce, CollectiveOperator op, program::Sequence& prog,
                              const DebugContext& debugContext, const OptionFlags&) {
  check_parts(graph, "allReduceWithinReplica", toReduce, op);
  const DebugContext debug(debugContext, "allReduceWithinReplica");
  const Tensor out = graph.clone(toReduce, {debug, "out"});
  if (out.numElements() == 0) return out;
  const Tensor first = graph.clone(toReduce[0], {debug, "combined"});
  internal::combine(graph, toReduce, first, op, prog, debug);
  prog.add(program::Copy(first.expand({0}).broadcast(static_cast<unsigned>(toReduce.dim(0)), 0), out, false, debug));
  return out;
}

Chunks reduceScatterWithinReplica(Graph& graph, const Tensor& toReduce, CollectiveOperator op, program::Sequence& prog,
                                  const DebugContext& debugContext, const OptionFlags&) {
  check_parts(graph, "reduceScatterWithinReplica", toReduce, op);
  const DebugContext debug(debugContext, "reduceScatterWithinReplica");
  const Tensor rows = toReduce.flatten(1, toReduce.rank());
  const std::size_t n = rows.dim(0), elements = rows.dim(1);
  if (elements > std::numeric_limits<unsigned>::max())
    poputil::reject("offset-of-chunk", "gcl::reduceScatterWithinReplica: parts of {} elements; the offset of a chunk has 32 bits",
                    elements);
  Chunks result;
  result.originalInput = toReduce;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t begin = elements * i / n, end = elements * (i + 1) / n;
    const Tensor part = graph.clone(rows[i].slice(begin, end), {debug, "part"});
    if (begin < end) internal::combine(graph, rows.slice(begin, end, 1), part, op, prog, debug);
    Chunk chunk;
    chunk.tensor = part;
    chunk.index = static_cast<unsigned>(i);
    chunk.offset = static_cast<unsigned>(begin);
    result.chunks.push_back(chunk);
  }
  return result;
}

Tensor allGatherWithinReplica(Graph& graph, const Chunks& toGather, program::Sequence& prog, const DebugContext& debugContext,
                              const OptionFlags&) {
  const DebugContext debug(debugContext, "allGatherWithinReplica");
  const Tensor all = concatChunks(toGather);
  if (toGather.originalInput.valid()) internal::check_owner(graph, toGather.originalInput);
  const std::size_t n = toGather.chunks.size(), elements = all.numElements();
  const Tensor out = graph.addVariable(all.elementType(), {n, elements}, {debug, "gathered"});
  for (const Chunk& c : toGather.chunks) {
    const Interval tiles = c.tensor.numElements() > 0 ? tiles_near(graph, c.tensor) : Interval(0, graph.getTarget().getTilesPerIPU());
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const Tensor piece = out[c.index].slice(elements * t / tiles.size(), elements * (t + 1) / tiles.size());
      if (piece.numElements() > 0) graph.setTileMapping(piece, static_cast<unsigned>(tiles.begin() + t));
    }
  }
  prog.add(program::Copy(all.expand({0}).broadcast(static_cast<unsigned>(n), 0), out, false, debug));
  return out;
}

}  // namespace gcl
