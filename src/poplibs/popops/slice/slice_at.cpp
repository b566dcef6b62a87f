#include <algorithm>

#include "poplibs/popops/slice/slice_plan.h"
#include "poplibs/popops/slice/split.h"
#include "poplibs/popops/slice/table.h"

namespace popops::internal {

using namespace poplar;
using program::Execute;
using program::Sequence;

namespace {

void slice_columns(Graph& graph, const Tensor& table, const Tensor& offset, const Tensor& out, const Grid& grid, Sequence& prog,
                   const DebugContext& debug) {
  const ComputeSet cs = graph.addComputeSet({debug, "slice"});
  const std::string vertex = "popops::DynamicSlice<" + table.elementType().toString() + ">";
  const std::size_t type_bytes = graph.getTarget().getTypeSize(table.elementType());
  for (std::size_t c = 0; c < grid.blocks.size(); ++c) {
    std::vector<Tensor> from, to;
    for (const Interval& b : grid.blocks[c]) {
      from.push_back(table.slice(b, 1).flatten());
      to.push_back(out.slice(b, 1));
    }
    for (const SliceWork& w : split_work(graph.getTarget(), Interval(0, out.dim(0)), grid.blocks[c], type_bytes)) {
      std::vector<Tensor> in(from.begin() + static_cast<std::ptrdiff_t>(w.first_block),
                             from.begin() + static_cast<std::ptrdiff_t>(w.end_block)),
          slices;
      for (std::size_t b = w.first_block; b < w.end_block; ++b) slices.push_back(to[b].slice(w.rows).flatten());
      const VertexRef v = graph.addVertex(cs, vertex);
      graph.connect(v["in"], in);
      graph.connect(v["out"], slices);
      graph.connect(v["offset"], offset);
      graph.setInitialValue(v["numRows"], static_cast<unsigned>(grid.rows));
      graph.setInitialValue(v["begin"], static_cast<unsigned>(w.rows.begin()));
      graph.setTileMapping(v, grid.tiles[c]);
    }
  }
  prog.add(Execute(cs, {debug}));
}

void update_columns(Graph& graph, const Tensor& table, const Tensor& slices, const Tensor& offset, const Grid& grid, Sequence& prog,
                    const DebugContext& debug) {
  const ComputeSet cs = graph.addComputeSet({debug, "update"});
  const std::string vertex = "popops::DynamicUpdate<" + table.elementType().toString() + ">";
  const std::size_t type_bytes = graph.getTarget().getTypeSize(table.elementType());
  for (std::size_t c = 0; c < grid.blocks.size(); ++c)
    for (const SliceWork& w : split_work(graph.getTarget(), Interval(0, grid.rows), grid.blocks[c], type_bytes)) {
      std::vector<Tensor> to, from;
      for (std::size_t b = w.first_block; b < w.end_block; ++b) {
        to.push_back(table.slice(grid.blocks[c][b], 1).slice(w.rows).flatten());
        from.push_back(slices.slice(grid.blocks[c][b], 1).flatten());
      }
      const VertexRef v = graph.addVertex(cs, vertex);
      graph.connect(v["table"], to);
      graph.connect(v["slices"], from);
      graph.connect(v["offset"], offset);
      graph.setInitialValue(v["dim"], static_cast<unsigned>(grid.rows));
      graph.setInitialValue(v["firstRow"], static_cast<unsigned>(w.rows.begin()));
      graph.setInitialValue(v["numRows"], static_cast<unsigned>(w.rows.size()));
      graph.setTileMapping(v, grid.tiles[c]);
    }
  prog.add(Execute(cs, {debug}));
}

// A rectangle of a table that lies on one tile.
struct TablePiece {
  unsigned tile;
  Interval rows, columns;
};

// What lies on each tile: of an interval of a table's elements the end of a row, whole rows and the beginning of a row.
std::vector<TablePiece> pieces_of(const Graph& graph, const Tensor& table) {
  const std::size_t columns = table.dim(1);
  std::vector<TablePiece> pieces;
  const auto mapping = graph.getTileMapping(table);
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const Interval& i : mapping[tile])
      for (std::size_t at = i.begin(); at < i.end();) {
        const std::size_t row = at / columns, column = at % columns;
        const std::size_t whole = column == 0 ? (i.end() - at) / columns : 0;
        const std::size_t rows = std::max<std::size_t>(1, whole);
        const std::size_t end = whole > 0 ? columns : std::min(columns, column + (i.end() - at));
        pieces.push_back({tile, Interval(row, row + rows), Interval(column, end)});
        at += whole > 0 ? whole * columns : end - column;
      }
  return pieces;
}

// Each piece stays where it is and gets its columns of the slices: false, and nothing is done, if these are more than the table.
bool update_pieces(Graph& graph, const Tensor& table, const Tensor& slices, const Tensor& offset, Sequence& prog,
                   const DebugContext& debug) {
  const std::vector<TablePiece> pieces = pieces_of(graph, table);
  std::size_t moved = 0;
  for (const TablePiece& p : pieces) moved += slices.dim(0) * p.columns.size();
  if (moved > table.numElements()) return false;
  const ComputeSet cs = graph.addComputeSet({debug, "update"});
  const std::string vertex = "popops::DynamicUpdate<" + table.elementType().toString() + ">";
  for (const TablePiece& p : pieces) {
    const VertexRef v = graph.addVertex(cs, vertex);
    graph.connect(v["table"], std::vector<Tensor>{table.slice(p.columns, 1).slice(p.rows).flatten()});
    graph.connect(v["slices"], std::vector<Tensor>{slices.slice(p.columns, 1).flatten()});
    graph.connect(v["offset"], offset);
    graph.setInitialValue(v["dim"], static_cast<unsigned>(table.dim(0)));
    graph.setInitialValue(v["firstRow"], static_cast<unsigned>(p.rows.begin()));
    graph.setInitialValue(v["numRows"], static_cast<unsigned>(p.rows.size()));
    graph.setTileMapping(v, p.tile);
  }
  prog.add(Execute(cs, {debug}));
  return true;
}

// Are the columns of the table where they are, and on enough tiles, or is there too little to do for more?
bool stay(const Graph& graph, const Tensor& table, std::size_t inner, const SliceProblem& problem, Grid& grid) {
  if (!columns_are_local(graph, table, inner, grid)) return false;
  return 2 * grid.part.parts() >= choose_partition(graph.getTarget(), problem).parts() || problem.lookups * problem.columns < 1024;
}

}  // namespace

Tensor slice_at(Graph& graph, const Tensor& table, const Tensor& offset, std::size_t n, std::size_t inner, Sequence& prog,
                const DebugContext& debug) {
  if (n == 0 || table.numElements() == 0)
    return graph.addVariable(table.elementType(), {n, table.dim(1)}, VariableMappingMethod::LINEAR, {debug, "slice"});
  const SliceProblem problem = problem_of(graph, table.elementType(), table.dim(0), table.dim(1), n);
  Grid grid;
  if (stay(graph, table, inner, problem, grid)) {
    const Tensor out = create_slices(graph, bits_type(graph.getTarget(), table.elementType()), grid, n, {debug, "slice"});
    slice_columns(graph, as_bits(graph, table), offset, out, grid, prog, debug);
    return out.elementType() == table.elementType() ? out : out.reinterpret(table.elementType());
  }
  const Tensor rows = rows_of(graph, offset.reshape({1, 1}), {table.dim(0)}, {n}, Outside::wrap, prog, debug);
  return look_up(graph, table, rows, prog, grid_for(graph, table, inner, problem), problem, debug);
}

void update_at(Graph& graph, const Tensor& table, const Tensor& slices, const Tensor& offset, std::size_t inner, Sequence& prog,
               const DebugContext& debug) {
  if (slices.numElements() == 0 || table.numElements() == 0) return;
  SliceProblem problem = problem_of(graph, table.elementType(), table.dim(0), table.dim(1), slices.dim(0));
  problem.slice = false;
  problem.update = true;
  Grid grid;
  if (stay(graph, table, inner, problem, grid))
    return update_columns(graph, as_bits(graph, table), as_bits(graph, slices), offset, grid, prog, debug);
  grid = grid_for(graph, table, inner, problem);
  if (!in_place(graph, table, grid) && update_pieces(graph, as_bits(graph, table), as_bits(graph, slices), offset, prog, debug)) return;
  const Tensor rows = rows_of(graph, offset.reshape({1, 1}), {table.dim(0)}, {slices.dim(0)}, Outside::wrap, prog, debug);
  update_rows(graph, table, slices, rows, prog, grid, problem, UpdateOp::set, {}, debug);
}

Tensor rows_of(Graph& graph, const Tensor& offsets, const std::vector<std::size_t>& dims, const std::vector<std::size_t>& sizes,
               Outside outside, Sequence& prog, const DebugContext& debug) {
  std::size_t window = 1;
  for (const std::size_t s : sizes) window *= s;
  const std::size_t n = offsets.dim(0);
  const bool negatives = offsets.elementType() == INT;
  const Tensor tuples = negatives ? offsets.reinterpret(UNSIGNED_INT) : offsets;
  if (dims.size() == 1 && window == 1 && outside == Outside::none) return tuples.flatten();
  // Spread as tuples are: a part of a tuple is not worth a tile.
  const unsigned tiles = graph.getTarget().getNumTiles();
  const std::size_t workers = pando::poplibs::vertices_per_tile(graph.getTarget());
  const std::size_t grain = std::max(ceil_div(32, std::max<std::size_t>(window, 1)), ceil_div(n, tiles * workers));
  const Tensor rows = graph.addVariable(UNSIGNED_INT, {n, window}, {debug, "rows"});
  const ComputeSet cs = graph.addComputeSet({debug, "rows"});
  const std::vector<unsigned> d(dims.begin(), dims.end()), s(sizes.begin(), sizes.end());
  for (std::size_t begin = 0, i = 0; begin < n; begin += grain, ++i) {
    const std::size_t end = std::min(n, begin + grain);
    const Tensor out = rows.slice(begin, end).flatten();
    const unsigned tile = static_cast<unsigned>(i % tiles);
    graph.setTileMapping(out, tile);
    const VertexRef v = graph.addVertex(cs, "popops::SliceRows", {{"offsets", tuples.slice(begin, end).flatten()}, {"rows", out}});
    graph.setInitialValue(v["dims"], ArrayRef<unsigned>(d));
    graph.setInitialValue(v["sizes"], ArrayRef<unsigned>(s));
    graph.setInitialValue(v["rule"], static_cast<unsigned>(outside));
    graph.setInitialValue(v["negatives"], negatives);
    graph.setTileMapping(v, tile);
  }
  if (n != 0) prog.add(Execute(cs, {debug}));
  return rows.flatten();
}

}  // namespace popops::internal
