#include <algorithm>
#include <pando/cpu_device.hpp>

#include <poputil/exceptions.hpp>

#include "poplibs/popops/slice/split.h"
#include "poplibs/popops/slice/table.h"

namespace popops::internal {

using namespace poplar;
using program::Copy;
using program::Execute;
using program::Sequence;

namespace {

// Chunks that slices are copied into.
constexpr std::size_t kChunks = 32;

// The slices of one round, where vertices can be bound to them: chunks of `rows` that each lie in one piece on one tile.
struct Slices {
  Tensor t;
  std::size_t rows;
};

Slices slices_in_place(Graph& graph, const Tensor& slices, const Grid& grid, std::size_t piece, Sequence& prog, const DebugContext& debug) {
  const std::size_t n = slices.dim(0);
  const Tensor first = slices.slice(0, std::min(n, piece)).slice(grid.blocks[0][0], 1).flatten();
  std::size_t pieces = 0;
  for (const auto& tile : graph.getTileMapping(first)) pieces += tile.size();
  if (ceil_div(n, piece) <= kMostChunks && first.isContiguous() && pieces == 1) return {slices, piece};
  // Chunk q of column part c on a tile of that part.
  Grid g = grid;
  g.part.rows = std::min({kChunks, grid.part.rows * grid.part.lookups, n});
  g.part.lookups = 1;
  g.tiles.clear();
  const std::size_t parts = grid.part.rows * grid.part.lookups;
  for (std::size_t c = 0; c < grid.blocks.size(); ++c)
    for (std::size_t q = 0; q < g.part.rows; ++q) g.tiles.push_back(grid.tiles[c * parts + q * parts / g.part.rows]);
  const Tensor here = create_slices(graph, slices.elementType(), g, n, {debug, "slices"});
  prog.add(Copy(slices, here, false, {debug}));
  return {here, g.piece_rows(n)};
}

struct Vertex {
  std::string name;
  UpdateOp op;
  Tensor scale;
};

// Vertices for the rows of one tile: as many as make the updates take no longer than looking at the indices, which each does.
std::size_t vertices_of(const Target& target, const Interval& rows, std::size_t columns, std::size_t n, std::size_t total_rows,
                        std::size_t type_bytes) {
  constexpr std::size_t kMostOnHost = 8;
  if (pando::shares_work_among_threads(target))
    return std::clamp<std::size_t>(n * columns * type_bytes / 256, 1, std::min(kMostOnHost, rows.size()));
  const std::size_t hits = n * rows.size() / total_rows, most = std::min<std::size_t>(target.getNumWorkerContexts(), rows.size());
  return std::clamp<std::size_t>(hits * (10 + columns * type_bytes / 2) / (2 * n), 1, most);
}

void add_update(Graph& graph, ComputeSet cs, const Tensor& table, const Slices& slices, const Tensor& rows, const Grid& grid,
                const Vertex& vertex) {
  const Target& target = graph.getTarget();
  const std::size_t n = rows.numElements(), chunk = grid.chunk_rows();
  for (std::size_t c = 0; c < grid.blocks.size(); ++c) {
    std::vector<Tensor> columns, in;
    for (const Interval& b : grid.blocks[c]) {
      columns.push_back(table.slice(b, 1));
      const Tensor from = slices.t.slice(b, 1);
      for (std::size_t at = 0; at < n; at += slices.rows) in.push_back(from.slice(at, std::min(n, at + slices.rows)).flatten());
    }
    for (std::size_t r = 0; r < grid.part.rows; ++r) {
      const std::size_t begin = r * grid.part_rows(), end = std::min(grid.rows, begin + grid.part_rows());
      for (std::size_t row = begin, l = 0; row < end; row += chunk, ++l) {
        const Interval here(row, std::min(end, row + chunk));
        const std::size_t parts = vertices_of(target, here, grid.width(c), n, grid.rows, target.getTypeSize(table.elementType()));
        for (std::size_t k = 0; k < parts; ++k) {
          const Interval own(here.begin() + here.size() * k / parts, here.begin() + here.size() * (k + 1) / parts);
          std::vector<Tensor> to;
          for (const Tensor& block : columns) to.push_back(block.slice(own).flatten());
          const VertexRef v = graph.addVertex(cs, vertex.name);
          graph.connect(v["table"], to);
          graph.connect(v["rows"], rows);
          graph.connect(v["slices"], in);
          graph.setInitialValue(v["firstRow"], static_cast<unsigned>(own.begin()));
          graph.setInitialValue(v["numRows"], static_cast<unsigned>(own.size()));
          graph.setInitialValue(v["chunkRows"], static_cast<unsigned>(slices.rows));
          if (vertex.op != UpdateOp::set) {
            graph.setInitialValue(v["op"], static_cast<unsigned>(vertex.op));
            graph.connect(v["scale"], vertex.scale);
          }
          graph.setTileMapping(v, grid.tile(c, r, l));
        }
      }
    }
  }
}

Vertex vertex_for(Graph& graph, const Tensor& table, UpdateOp op, const Tensor& scale, const DebugContext& debug) {
  if (op == UpdateOp::set) return {"popops::MultiUpdate<" + table.elementType().toString() + ">", op, {}};
  Tensor factor = scale;
  if (op != UpdateOp::add) {
    factor = graph.addConstant(table.elementType(), {}, 1, {debug, "one"});
    graph.setTileMapping(factor, 0);
  }
  const std::string types = table.elementType().toString() + "," + factor.elementType().toString();
  return {"popops::MultiUpdateOp<" + types + ">", op, factor};
}

}  // namespace

Grid for_updates(Grid grid, const SliceProblem& problem) {
  if (problem.host && problem.update) grid.most_pieces = kMostChunks;
  return grid;
}

void update_rows(Graph& graph, const Tensor& table, const Tensor& slices, const Tensor& rows, Sequence& prog, const Grid& table_grid,
                 const SliceProblem& problem, UpdateOp op, const Tensor& scale, const DebugContext& debug) {
  const std::size_t n = rows.numElements();
  if (n == 0 || table_grid.columns == 0 || table_grid.rows == 0) return;
  const Grid grid = for_updates(table_grid, problem);
  const auto typed = [&](const Tensor& t) { return op == UpdateOp::set ? as_bits(graph, t) : t; };
  const Tensor source = typed(table), from = typed(slices);
  const bool here = in_place(graph, table, grid);
  Tensor target = source;
  if (!here) {
    target = create_table(graph, source.elementType(), grid, {debug, "table"});
    prog.add(Copy(source, target, false, {debug}));
  }
  const Vertex vertex = vertex_for(graph, source, op, scale, debug);
  // Rounds of whole pieces, if a piece is not too much for one: where these lie is where vertices read them.
  const std::size_t fits = std::min(n, lookups_per_round(graph.getTarget(), problem, grid.part));
  const std::size_t piece = grid.piece_rows(grid.piece_rows(n) <= fits ? n : fits),
                    round = fits < piece ? fits : ceil_div(fits, piece) * piece;
  for (std::size_t begin = 0; begin < n; begin += round) {
    const std::size_t end = std::min(n, begin + round);
    const Slices some = slices_in_place(graph, from.slice(begin, end), grid, piece, prog, debug);
    // All tiles read all indices: they lie on one.
    Grid one = grid;
    one.part.lookups = 1;
    const Tensor indices = rows_in_place(graph, rows.slice(begin, end), one, prog, debug);
    const ComputeSet cs = graph.addComputeSet({debug, "update"});
    add_update(graph, cs, target, some, indices, grid, vertex);
    prog.add(Execute(cs, {debug}));
  }
  if (!here) prog.add(Copy(target, source, false, {debug}));
}

}  // namespace popops::internal
