#include <algorithm>

#include <pando/mapping.hpp>
#include <pando/placing.hpp>
#include <poputil/exceptions.hpp>

#include "poplibs/popops/slice/split.h"
#include "poplibs/popops/slice/table.h"

namespace popops::internal {

using namespace poplar;

namespace {

// Where the elements of a variable go, in order.
class Layout {
 public:
  explicit Layout(unsigned tiles) : mapping(tiles) {}
  void add(unsigned tile, std::size_t elements) {
    if (elements == 0) return;
    if (!mapping[tile].empty() && mapping[tile].back().end() == size)
      mapping[tile].back() = Interval(mapping[tile].back().begin(), size + elements);
    else
      mapping[tile].emplace_back(size, size + elements);
    size += elements;
  }
  Tensor variable(Graph& graph, const Type& type, const DebugContext& debug) const {
    const Tensor t = graph.addVariable(type, {size}, debug);
    graph.setTileMapping(t, mapping);
    return t;
  }
  Graph::TileToTensorMapping mapping;
  std::size_t size = 0;
};

Layout table_layout(const Graph& graph, const Grid& g) {
  Layout layout(graph.getTarget().getNumTiles());
  const std::size_t chunk = g.chunk_rows();
  for (std::size_t c = 0; c < g.blocks.size(); ++c)
    for (std::size_t r = 0; r < g.part.rows; ++r) {
      const std::size_t begin = r * g.part_rows(), end = std::min(g.rows, begin + g.part_rows());
      for (std::size_t row = begin, l = 0; row < end; row += chunk, ++l)
        layout.add(g.tile(c, r, l), std::min(chunk, end - row) * g.width(c));
    }
  return layout;
}

}  // namespace

std::size_t Grid::chunk_rows() const { return ceil_div(part_rows(), std::min(part.lookups, kMostHolders)); }

std::size_t Grid::width(std::size_t c) const {
  std::size_t n = 0;
  for (const Interval& b : blocks[c]) n += b.size();
  return n;
}

Grid make_grid(std::size_t rows, std::size_t columns, std::size_t grain, Partition part) {
  part.rows = rows == 0 ? 1 : ceil_div(rows, ceil_div(rows, part.rows));  // no empty parts
  Grid g;
  g.rows = rows;
  g.columns = columns;
  g.part = part;
  for (std::size_t c = 0; c < part.columns; ++c)
    g.blocks.push_back({Interval(part_begin(columns, grain, part.columns, c), part_begin(columns, grain, part.columns, c + 1))});
  for (std::size_t i = 0; i < part.parts(); ++i) g.tiles.push_back(static_cast<unsigned>(i));
  return g;
}

Grid default_grid(const Target& target, std::size_t rows, std::size_t columns, std::size_t grain) {
  Partition part;
  part.columns = std::clamp<std::size_t>(ceil_div(columns, grain), 1, target.getNumTiles());
  part.rows = std::clamp<std::size_t>(target.getNumTiles() / part.columns, 1, std::max<std::size_t>(1, rows));
  return make_grid(rows, columns, grain, part);
}

Tensor create_table(Graph& graph, const Type& type, const Grid& g, const DebugContext& debug) {
  const Tensor variable = table_layout(graph, g).variable(graph, type, debug);
  if (variable.numElements() == 0) return variable.reshape({g.rows, g.columns});
  std::vector<Tensor> parts;
  std::size_t at = 0;
  for (std::size_t c = 0; c < g.blocks.size(); ++c) {
    const std::size_t width = g.width(c);
    if (width == 0) continue;
    parts.push_back(variable.slice(at, at + g.rows * width).reshape({g.rows, width}));
    at += g.rows * width;
  }
  return concat(parts, 1);
}

Tensor create_slices(Graph& graph, const Type& type, const Grid& g, std::size_t n, const DebugContext& debug) {
  Layout layout(graph.getTarget().getNumTiles());
  const std::size_t piece = g.piece_rows(n);
  for (std::size_t c = 0; c < g.blocks.size(); ++c)
    for (std::size_t q = 0; q * piece < n; ++q)
      layout.add(g.tile(c, q % g.share_pieces(), q / g.share_pieces()), std::min(piece, n - q * piece) * g.width(c));
  const Tensor variable = layout.variable(graph, type, debug);
  if (variable.numElements() == 0) return variable.reshape({n, g.columns});
  // Columns in the order of the column parts' blocks.
  std::vector<std::pair<std::size_t, Tensor>> columns;
  std::size_t at = 0;
  for (std::size_t c = 0; c < g.blocks.size(); ++c) {
    const std::size_t width = g.width(c);
    const Tensor part = variable.slice(at, at + n * width).reshape({n, width});
    at += n * width;
    std::size_t from = 0;
    for (const Interval& b : g.blocks[c]) {
      if (b.size() != 0) columns.emplace_back(b.begin(), part.slice(from, from + b.size(), 1));
      from += b.size();
    }
  }
  std::sort(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Tensor> parts;
  for (const auto& column : columns) parts.push_back(column.second);
  return concat(parts, 1);
}

Graph::TileToTensorMapping rows_mapping(const Graph& graph, const Grid& g, std::size_t n) {
  Layout layout(graph.getTarget().getNumTiles());
  const std::size_t share = g.piece_rows(n) * g.share_pieces();
  for (std::size_t l = 0; l * share < n; ++l) layout.add(g.tile(0, 0, l), std::min(share, n - l * share));
  return layout.mapping;
}

Tensor create_rows(Graph& graph, const Grid& g, std::size_t n, const DebugContext& debug) {
  const Tensor rows = graph.addVariable(UNSIGNED_INT, {n}, debug);
  graph.setTileMapping(rows, rows_mapping(graph, g, n));
  return rows;
}

bool has_layout(const Graph& graph, const Tensor& table, const Grid& g) {
  std::vector<Tensor> parts;
  for (const Blocks& blocks : g.blocks)
    for (const Interval& b : blocks) {
      parts.push_back(table.slice(b, 1).flatten());
      if (!parts.back().isContiguous()) return false;
    }
  if (parts.empty()) return true;
  Graph::TileToTensorMapping mapping = graph.getTileMapping(concat(parts)), expected = table_layout(graph, g).mapping;
  mapping.resize(std::max(mapping.size(), expected.size()));
  expected.resize(mapping.size());
  return mapping == expected;
}

namespace {

Grid rotated(const Graph& graph, Grid grid, unsigned rotation) {
  const unsigned per_ipu = graph.getTarget().getTilesPerIPU();
  for (unsigned& tile : grid.tiles) tile = tile / per_ipu * per_ipu + (tile % per_ipu + rotation) % per_ipu;
  return grid;
}

}  // namespace

Grid where_room_is(const Graph& graph, const Type& type, Grid grid) {
  if (graph.getTarget().getNumTiles() == 1) return grid;
  std::vector<pando::TileBytes> form;
  const auto mapping = table_layout(graph, grid).mapping;
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const Interval& i : mapping[tile]) form.push_back({tile, i.size() * graph.getTarget().getTypeSize(type)});
  return rotated(graph, std::move(grid), pando::choose_rotation(graph, form));
}

Grid as_it_lies(const Graph& graph, const Tensor& table, Grid grid) {
  if (grid.blocks.empty() || table.numElements() == 0) return grid;
  const std::size_t column = grid.blocks[0].empty() ? 0 : grid.blocks[0][0].begin();
  const auto first = pando::tile_intervals(graph, table[0].slice(column, column + 1));
  if (first.empty() || first[0].tile == grid.tiles[0]) return grid;
  Grid there = rotated(graph, grid, pando::rotation_between(graph, grid.tiles[0], first[0].tile));
  return has_layout(graph, table, there) ? there : grid;
}

bool columns_are_local(const Graph& graph, const Tensor& table, std::size_t inner, Grid& grid) {
  Grid g;
  g.rows = table.dim(0);
  g.columns = table.dim(1);
  const auto mapping = graph.getTileMapping(table.transpose());
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    Blocks blocks;
    for (const Interval& i : mapping[tile]) {
      if (i.begin() % g.rows != 0 || i.end() % g.rows != 0) return false;
      const Interval columns(i.begin() / g.rows, i.end() / g.rows);
      if (inner >= columns.size() || table.slice(columns, 1).flatten().isContiguous()) {
        blocks.push_back(columns);
        continue;
      }
      for (std::size_t at = columns.begin(); at < columns.end();) {
        const std::size_t end = std::min(columns.end(), at / inner * inner + inner);
        blocks.emplace_back(at, end);
        at = end;
      }
    }
    if (blocks.empty()) continue;
    g.blocks.push_back(std::move(blocks));
    g.tiles.push_back(tile);
  }
  if (g.blocks.empty()) return false;
  g.part.columns = g.blocks.size();
  g.found = true;
  grid = std::move(g);
  return true;
}

Grid grid_for(const Graph& graph, const Tensor& table, std::size_t inner, const SliceProblem& problem) {
  const Target& target = graph.getTarget();
  const Partition best = choose_partition(target, problem);
  Grid own;
  if (columns_are_local(graph, table, inner, own) && 2 * own.part.parts() >= best.parts()) return own;
  own = as_it_lies(graph, table, default_grid(target, problem.rows, problem.columns, problem.grain));
  if (has_layout(graph, table, own)) return own;
  return make_grid(problem.rows, problem.columns, problem.grain, best);
}

Type bits_type(const Target& target, const Type& type) {
  switch (target.getTypeSize(type)) {
    case 1: return UNSIGNED_CHAR;
    case 2: return UNSIGNED_SHORT;
    case 4: return UNSIGNED_INT;
    default: return UNSIGNED_LONGLONG;
  }
}

Tensor as_bits(const Graph& graph, const Tensor& t) {
  const Type bits = bits_type(graph.getTarget(), t.elementType());
  return bits == t.elementType() ? t : t.reinterpret(bits);
}

}  // namespace popops::internal
