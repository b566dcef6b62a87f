// Looking up and updating rows of a table that is spread over tiles: what all slicing functions come down to.
//
// A table is a tensor [rows][columns]. A grid shares it out (partition.h): each part looks at all indices of its share and handles
// those that fall in its rows. Where the rows are split, a second compute set picks for each index the part that had its row.
// Nobody gets more than a part of the table.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <algorithm>
#include <vector>

#include "poplibs/popops/slice/partition.h"

namespace popops::internal {

// A column part: intervals of columns. The rows of each are contiguous in memory if the table's layout is the grid's.
using Blocks = std::vector<poplar::Interval>;

struct Grid {
  std::size_t rows = 0, columns = 0;  // of the table
  Partition part;
  bool found = false;                              // in the table: it is used where it is
  std::size_t most_pieces = std::size_t{1} << 32;  // that results, or slices for updates, are cut into
  std::vector<Blocks> blocks;                      // of column part c
  std::vector<unsigned> tiles;                     // of part (r, c, l): tiles[(c * part.rows + r) * part.lookups + l]

  std::size_t part_rows() const { return ceil_div(rows, part.rows); }
  unsigned tile(std::size_t c, std::size_t r, std::size_t l) const { return tiles[(c * part.rows + r) * part.lookups + l]; }
  // The rows of a part lie on the first of its tiles, in chunks of this many rows.
  std::size_t chunk_rows() const;
  std::size_t width(std::size_t c) const;
  // Results: piece q of n rows has this many of them; it belongs to part (q % share_pieces(), ., q / share_pieces()).
  std::size_t pieces() const { return share_pieces() * part.lookups; }
  std::size_t share_pieces() const { return std::clamp<std::size_t>(most_pieces / part.lookups, 1, part.rows); }
  std::size_t piece_rows(std::size_t n) const { return ceil_div(n, pieces()); }
};

// A grid on tiles 0, 1, ...
Grid make_grid(std::size_t rows, std::size_t columns, std::size_t grain, Partition part);
// The grid of tables made without a plan: columns first, then rows, over all tiles.
Grid default_grid(const poplar::Target& target, std::size_t rows, std::size_t columns, std::size_t grain);

// A new tensor [rows][columns] in the layout of the grid.
poplar::Tensor create_table(poplar::Graph& graph, const poplar::Type& type, const Grid& grid, const poplar::DebugContext& debug);
// The grid as slices for updates lie in it: for the host, in no more pieces than a vertex reads where they lie.
Grid for_updates(Grid grid, const SliceProblem& problem);
// A new tensor [n][columns] in the layout of results.
poplar::Tensor create_slices(poplar::Graph& graph, const poplar::Type& type, const Grid& grid, std::size_t n,
                             const poplar::DebugContext& debug);
// A new tensor [n] of UNSIGNED_INT where lookups read it without a copy.
poplar::Tensor create_rows(poplar::Graph& graph, const Grid& grid, std::size_t n, const poplar::DebugContext& debug);

// The grid of a new table, on tiles that are least full (pando/placing.hpp).
Grid where_room_is(const poplar::Graph& graph, const poplar::Type& type, Grid grid);
bool has_layout(const poplar::Graph& graph, const poplar::Tensor& table, const Grid& grid);
// The grid on other tiles, if the table has its layout there; else as it is.
Grid as_it_lies(const poplar::Graph& graph, const poplar::Tensor& table, Grid grid);
// If no column of the table is split over tiles: true, and the grid of what lies where. `inner`: columns that lie side by side in memory.
bool columns_are_local(const poplar::Graph& graph, const poplar::Tensor& table, std::size_t inner, Grid& grid);
// The grid to use for a table whose layout is given: its own if it is good enough, otherwise the cheapest.
Grid grid_for(const poplar::Graph& graph, const poplar::Tensor& table, std::size_t inner, const SliceProblem& problem);

// Rows `rows` ([n] UNSIGNED_INT) of the table as a new tensor [n][columns]. A row that does not exist gives zeros.
poplar::Tensor look_up(poplar::Graph& graph, const poplar::Tensor& table, const poplar::Tensor& rows, poplar::program::Sequence& prog,
                       const Grid& grid, const SliceProblem& problem, const poplar::DebugContext& debug);

enum class UpdateOp : unsigned { set, add, max, multiply, min };

// Row rows[i] of the table op= slices[i], in the order of i. Rows that do not exist change nothing. `scale` is for `add` only.
void update_rows(poplar::Graph& graph, const poplar::Tensor& table, const poplar::Tensor& slices, const poplar::Tensor& rows,
                 poplar::program::Sequence& prog, const Grid& grid, const SliceProblem& problem, UpdateOp op, const poplar::Tensor& scale,
                 const poplar::DebugContext& debug);

// Rows (offset + i) mod table.dim(0), i < n: one compute set without an exchange of the table if columns are local.
poplar::Tensor slice_at(poplar::Graph& graph, const poplar::Tensor& table, const poplar::Tensor& offset, std::size_t n, std::size_t inner,
                        poplar::program::Sequence& prog, const poplar::DebugContext& debug);
void update_at(poplar::Graph& graph, const poplar::Tensor& table, const poplar::Tensor& slices, const poplar::Tensor& offset,
               std::size_t inner, poplar::program::Sequence& prog, const poplar::DebugContext& debug);

// What an offset does whose slice does not lie inside a dimension. none: coordinates outside have no row. wrap: modulo the dimension.
// clamp: the nearest offset whose slice lies inside. all: the slice has no rows at all. first: offset 0. fit: as first where the dimension
// does not have the offset, else as clamp.
enum class Outside : unsigned { none, wrap, clamp, all, first, fit };

// Row numbers [n * product(sizes)] of `offsets` [n][dims], integers, in a table of rows of `dims` in row-major order.
poplar::Tensor rows_of(poplar::Graph& graph, const poplar::Tensor& offsets, const std::vector<std::size_t>& dims,
                       const std::vector<std::size_t>& sizes, Outside outside, poplar::program::Sequence& prog,
                       const poplar::DebugContext& debug);

// The unsigned type of the same size, for vertices that copy; and a tensor as that type.
poplar::Type bits_type(const poplar::Target& target, const poplar::Type& type);
poplar::Tensor as_bits(const poplar::Graph& graph, const poplar::Tensor& t);

}  // namespace popops::internal
