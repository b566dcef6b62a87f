// How work along the rows of a matrix is spread over tiles and workers: whole rows where there are enough, pieces of rows otherwise.
//
//   pieces == 1                        pieces == 3
//   +--------------+ block 0: rows     +----+----+----+ blocks 0, 1, 2: row 0
//   +--------------+ 0 and 1           +----+----+----+ blocks 3, 4, 5: row 1
//   +--------------+ block 1: row 2
#pragma once

#include <poplar/Graph.hpp>

#include <vector>

namespace popnn::internal {

struct RowBlock {
  unsigned tile = 0;
  poplar::Interval rows;
  poplar::Interval columns;
};

struct RowPlan {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t pieces = 1;        // of every row
  std::vector<RowBlock> blocks;  // ordered by row, then column; with pieces > 1 each has one row

  bool whole_rows() const { return pieces == 1; }
  const RowBlock& block(std::size_t row, std::size_t piece) const { return blocks[row * pieces + piece]; }
};

// A plan for `matrix`, of two dimensions and at least one element. Rows that lie whole on enough different tiles are worked on there.
// `cycles_per_element` of a worker weighs the extra compute sets of split rows. Pieces have at least `least_columns` columns.
RowPlan plan_rows(const poplar::Graph& graph, const poplar::Tensor& matrix, unsigned cycles_per_element, std::size_t least_columns = 32);

// The elements of every block, flat.
std::vector<poplar::Tensor> parts_of(const poplar::Tensor& matrix, const RowPlan& plan);
// A new matrix like the plan's, that lies where the blocks are worked on.
poplar::Tensor add_matrix(poplar::Graph& graph, const poplar::Type& type, const RowPlan& plan, const poplar::DebugContext& debug);
// `width` numbers for each piece of each row, {rows, pieces, width}, on the tile of the block.
poplar::Tensor add_partials(poplar::Graph& graph, const poplar::Type& type, const RowPlan& plan, std::size_t width,
                            const poplar::DebugContext& debug);
// `width` numbers for each row, {rows, width}, on the tile of the row's first block.
poplar::Tensor add_per_row(poplar::Graph& graph, const poplar::Type& type, const RowPlan& plan, std::size_t width,
                           const poplar::DebugContext& debug);

}  // namespace popnn::internal
