// Products of matrices that all lie in blocks of one size, whatever they are used for: what one product writes, the next one, its gradient
// and every element-wise op between them read where it lies. Nothing is rearranged, there are no partial sums.
//
//     X {m, k}           W {k, n}           Y {m, n}
//     x00 x01 x02        w00 w01            y00 y01         the tile that has y01 multiplies x00 x01 x02 by w01 w11 w21, in steps of k that
//     its x10 x11 x12    *   w10 w11     =      y10 y11         memory holds at once. A transposed operand is transposed block by block,
//     each
//                        w20 w21                            on its tile.
//
// Few blocks are a bad cut of long sums: such products keep the plan by grid (plan.h).
#pragma once

#include <pando/placing.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <cstddef>
#include <ostream>
#include <vector>

#include "poplibs/poplin/epilogue.h"
#include "poplibs/poplin/matmul/terms/layout.h"
#include "poplibs/poplin/matmul/terms/plan.h"

namespace poplin::internal::matmul {

// {groups, rows, columns} in blocks of r rows and c columns; a group's last ones may be smaller, if there is one group only.
struct Blocks {
  std::size_t groups = 1, rows = 1, columns = 1, r = 0, c = 0;
  bool valid() const { return r > 0; }
  std::size_t of_rows() const { return (rows + r - 1) / r; }  // blocks along the rows of a group
  std::size_t of_columns() const { return (columns + c - 1) / c; }
  std::size_t count() const { return groups * of_rows() * of_columns(); }
  // Groups below each other.
  Layout layout() const { return {1, {groups * rows, r, r}, {columns, c, c}}; }
};

// The blocks of a matrix of this size: a function of the size alone. Invalid if groups cannot be cut evenly.
Blocks blocks_of(std::size_t groups, std::size_t rows, std::size_t columns, std::size_t tiles);

// Those of a product's result.
Blocks result_blocks(const Problem& problem, const poplar::Target& target);

// Where the first block lies on a graph that is not rotated.
unsigned tile_of_first_block(const Blocks& blocks, const poplar::Target& target);
// What lies on the tiles there: a `share`th of the blocks' bytes, and `more` for each block.
std::vector<pando::TileBytes> form_of(const Blocks& blocks, const poplar::Target& target, std::size_t element_bytes, std::size_t share,
                                      std::size_t more);

// Whether a product is asked to be in blocks, and can be. Every dimension has at least one element.
bool is_blocked(const Problem& problem, const poplar::Target& target);

// The sums of a vertex are taken so many elements of k at a time.
std::size_t blocked_step(const Problem& problem, const poplar::Target& target, std::size_t grain);

// A new variable {groups, rows, columns}.
poplar::Tensor create_blocked(poplar::Graph& graph, const poplar::Type& type, const Blocks& blocks, const poplar::DebugContext& debug);

// The product of a {groups, m, k} and b {groups, k, n}, in blocks.
poplar::Tensor multiply_blocked(poplar::Graph& graph, const Problem& problem, const poplar::Tensor& a, const poplar::Tensor& b,
                                poplar::program::Sequence& prog, const poplar::DebugContext& debug);

// The same with an epilogue, computed where a block's sums become complete; writes `outs`, and makes those that are invalid.
void multiply_and_finish_in_blocks(poplar::Graph& graph, const Problem& problem, const poplar::Tensor& a, const poplar::Tensor& b,
                                   const Finish& finish, std::vector<poplar::Tensor>& outs, poplar::program::Sequence& prog,
                                   const poplar::DebugContext& debug);

void print_blocked(std::ostream& out, const Problem& problem, const poplar::Target& target);

}  // namespace poplin::internal::matmul
