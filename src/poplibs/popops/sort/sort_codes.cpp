#include <algorithm>

#include <pando/ownership.hpp>
#include <poputil/exceptions.hpp>

#include "poplibs/popops/sort/sort_rows.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"

namespace popops::internal {

using namespace poplar;
using program::Execute;
using program::Sequence;

namespace {

Tensor rows_of_unit(const Tensor& t, const SortLayout& l, const SortUnit& u) {
  return t.slice({u.row, l.begin(u.part)}, {u.end_row, l.begin(u.part + 1)}).flatten();
}

Tensor block_of(const Tensor& codes, const SortUnit& u, std::size_t width) {
  return codes.slice({u.row, u.part * width}, {u.end_row, (u.part + 1) * width}).flatten();
}

// Sorts the blocks of a row by merging runs on its tile, pair by pair; every level takes all vertices of the tile.
Tensor merge_on_tile(Graph& graph, Tensor codes, const SortLayout& l, Sequence& prog, const DebugContext& debug) {
  const std::size_t total = codes.dim(1), most = pando::poplibs::vertices_per_tile(graph.getTarget());
  const std::string vertex = "popops::SortMerge<" + codes.elementType().toString() + ">";
  Tensor to = graph.clone(codes, {debug, "merged"});
  for (std::size_t run = l.block; run < total; run *= 2) {
    const ComputeSet cs = graph.addComputeSet({debug, "merge"});
    for (std::size_t r = 0; r < l.rows; ++r)
      for (std::size_t begin = 0; begin < total; begin += 2 * run) {
        const std::size_t mid = std::min(total, begin + run), end = std::min(total, mid + run);
        const std::size_t parts = std::max<std::size_t>(1, most * (end - begin) / (total * l.rows));
        for (std::size_t k = 0; k < parts; ++k) {
          const std::size_t from = (end - begin) * k / parts, until = (end - begin) * (k + 1) / parts;
          const VertexRef v = graph.addVertex(
              cs, vertex,
              {{"a", codes[r].slice(begin, mid)}, {"b", codes[r].slice(mid, end)}, {"out", to[r].slice(begin + from, begin + until)}});
          graph.setInitialValue(v["begin"], static_cast<unsigned>(from));
          graph.setTileMapping(v, l.tile(r, 0));
        }
      }
    prog.add(Execute(cs, {debug}));
    std::swap(codes, to);
  }
  return codes;
}

Tensor exchange_blocks(Graph& graph, const Tensor& codes, const SortLayout& l, Sequence& prog, const DebugContext& debug) {
  const auto stages = merge_exchange(static_cast<unsigned>(l.parts));
  std::size_t comparators = 0;
  for (const auto& stage : stages) comparators += stage.size();
  // More workers as long as the graph stays small.
  const std::size_t workers =
      std::clamp<std::size_t>(std::min(60000 / (2 * comparators * l.rows), l.block / 64), 1, graph.getTarget().getNumWorkerContexts());
  const std::string vertex = "popops::SortMerge<" + codes.elementType().toString() + ">";
  // The current and the other place of each block.
  const Tensor other = graph.clone(codes, {debug, "exchanged"});
  std::vector<Tensor> now, next;
  for (std::size_t i = 0; i < l.rows * l.parts; ++i) {
    now.push_back(codes.flatten().slice(i * l.block, (i + 1) * l.block));
    next.push_back(other.flatten().slice(i * l.block, (i + 1) * l.block));
  }
  for (const auto& stage : stages) {
    const ComputeSet cs = graph.addComputeSet({debug, "exchange"});
    for (std::size_t r = 0; r < l.rows; ++r)
      for (const auto& [i, j] : stage) {
        const std::size_t low = r * l.parts + i, high = r * l.parts + j;
        for (std::size_t half = 0; half < 2; ++half)
          for (std::size_t w = 0; w < workers; ++w) {
            const std::size_t from = l.block * w / workers, until = l.block * (w + 1) / workers;
            const Tensor out = next[half == 0 ? low : high].slice(from, until);
            const VertexRef v = graph.addVertex(cs, vertex, {{"a", now[low]}, {"b", now[high]}, {"out", out}});
            graph.setInitialValue(v["begin"], static_cast<unsigned>(half * l.block + from));
            graph.setTileMapping(v, l.tile(r, half == 0 ? i : j));
          }
        std::swap(now[low], next[low]);
        std::swap(now[high], next[high]);
      }
    prog.add(Execute(cs, {debug}));
  }
  return concat(now).reshape(codes.shape());
}

}  // namespace

Type code_type(Payload payload) { return payload == Payload::none ? UNSIGNED_INT : UNSIGNED_LONGLONG; }

Tensor encode_keys(Graph& graph, const Tensor& keys, const Tensor& values, const SortLayout& l, Payload payload, bool descending,
                   bool in_matrix, Sequence& prog, const DebugContext& debug) {
  const Type type = code_type(payload);
  const Tensor codes = like_blocks(graph, type, l, l.block, {debug, "codes"});
  const ComputeSet cs = graph.addComputeSet({debug, "encode"});
  const std::string vertex = "popops::SortEncode<" + keys.elementType().toString() + "," + type.toString() + ">";
  const std::vector<SortUnit> units = sort_units(graph.getTarget(), l);
  for (const SortUnit& u : units) {
    const VertexRef v = graph.addVertex(cs, vertex, {{"keys", rows_of_unit(keys, l, u)}, {"codes", block_of(codes, u, l.block)}});
    graph.setInitialValue(v["length"], static_cast<unsigned>(l.begin(u.part + 1) - l.begin(u.part)));
    graph.setInitialValue(v["firstIndex"], static_cast<unsigned>(l.begin(u.part) + (in_matrix ? u.row * l.length : 0)));
    graph.setInitialValue(v["rowStep"], static_cast<unsigned>(in_matrix ? l.length : 0));
    graph.setInitialValue(v["descending"], descending);
    graph.setTileMapping(v, u.tile);
  }
  prog.add(Execute(cs, {debug}));
  if (payload != Payload::value) return codes;
  const ComputeSet put = graph.addComputeSet({debug, "putValues"});
  const std::string put_vertex = "popops::SortPutValues<" + values.elementType().toString() + ">";
  for (const SortUnit& u : units) {
    const VertexRef v = graph.addVertex(put, put_vertex, {{"values", rows_of_unit(values, l, u)}, {"codes", block_of(codes, u, l.block)}});
    graph.setInitialValue(v["length"], static_cast<unsigned>(l.begin(u.part + 1) - l.begin(u.part)));
    graph.setTileMapping(v, u.tile);
  }
  prog.add(Execute(put, {debug}));
  return codes;
}

Tensor decode_keys(Graph& graph, const Tensor& codes, const Type& type, const SortLayout& l, bool descending, Sequence& prog,
                   const DebugContext& debug) {
  const Tensor keys = like_blocks(graph, type, l, l.block, {debug, "keys"}).slice(0, l.length, 1);
  const ComputeSet cs = graph.addComputeSet({debug, "decode"});
  const std::string vertex = "popops::SortDecode<" + type.toString() + "," + codes.elementType().toString() + ">";
  for (const SortUnit& u : sort_units(graph.getTarget(), l)) {
    const VertexRef v = graph.addVertex(cs, vertex, {{"codes", rows_of_unit(codes, l, u)}, {"keys", rows_of_unit(keys, l, u)}});
    graph.setInitialValue(v["descending"], descending);
    graph.setTileMapping(v, u.tile);
  }
  prog.add(Execute(cs, {debug}));
  return keys;
}

Tensor decode_values(Graph& graph, const Tensor& codes, const Type& type, const SortLayout& l, Sequence& prog, const DebugContext& debug) {
  const Tensor values = like_blocks(graph, type, l, l.block, {debug, "values"}).slice(0, l.length, 1);
  const ComputeSet cs = graph.addComputeSet({debug, "takeValues"});
  const std::string vertex = "popops::SortTakeValues<" + type.toString() + ">";
  for (const SortUnit& u : sort_units(graph.getTarget(), l))
    graph.setTileMapping(graph.addVertex(cs, vertex, {{"codes", rows_of_unit(codes, l, u)}, {"values", rows_of_unit(values, l, u)}}),
                         u.tile);
  prog.add(Execute(cs, {debug}));
  return values;
}

Tensor sort_codes(Graph& graph, const Tensor& codes, const SortLayout& l, Sequence& prog, const DebugContext& debug) {
  const ComputeSet cs = graph.addComputeSet({debug, "sort"});
  const std::string vertex = "popops::SortRun<" + codes.elementType().toString() + ">";
  for (const SortUnit& u : sort_units(graph.getTarget(), l)) {
    const VertexRef v = graph.addVertex(cs, vertex, {{"codes", block_of(codes, u, l.block)}});
    graph.setInitialValue(v["length"], static_cast<unsigned>(l.block));
    graph.setTileMapping(v, u.tile);
  }
  prog.add(Execute(cs, {debug}));
  if (l.parts == 1) return codes;
  return l.tiles == 1 ? merge_on_tile(graph, codes, l, prog, debug) : exchange_blocks(graph, codes, l, prog, debug);
}

void check_keys(const char* function, const Tensor& keys) {
  for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT, SHORT, UNSIGNED_SHORT})
    if (keys.elementType() == type) return;
  poputil::reject("key-type", "{}",
                  std::string(function) + ": keys are " + keys.elementType().toString() +
                      ", expected float, half, int, unsigned int, short or unsigned short");
}

void check_values(const char* function, const Graph& graph, const Tensor& keys, const Tensor& values) {
  for (const Tensor* t : {&keys, &values}) pando::require_own(graph, *t, function);
  if (keys.shape() != values.shape())
    poputil::reject("value-shape", "{}",
                    std::string(function) + ": the values have shape " + values.shapeToString() + ", the keys " + keys.shapeToString());
  if (graph.getTarget().getTypeSize(values.elementType()) > 4)
    poputil::reject("value-type", "{}",
                    std::string(function) + ": values are " + values.elementType().toString() + ", expected a type of at most four bytes");
}

}  // namespace popops::internal
