// What lookups and updates share.
#pragma once

#include "poplibs/popops/slice/table.h"
#include "poplibs/work.h"

namespace popops::internal {

// Chunks of slices that a vertex has as operands, at most; more are copied together first.
constexpr std::size_t kMostChunks = 96;

// A vertex's share of a part's work: some rows of some blocks.
struct SliceWork {
  poplar::Interval rows;
  std::size_t first_block, end_block;
};
// Cuts rows x blocks into at most as many vertices as a tile gets; one in `one_of` rows is moved. For the host, fewer: where a vertex moves
// few rows, it waits for their memory, a few at a time.
std::vector<SliceWork> split_work(const poplar::Target& target, const poplar::Interval& rows, const Blocks& blocks, std::size_t type_bytes,
                                  bool host = false, std::size_t one_of = 1);

// The indices where all vertices that read a share of them can be bound to it: each share in one piece on one tile. Copies if needed.
poplar::Tensor rows_in_place(poplar::Graph& graph, const poplar::Tensor& rows, const Grid& grid, poplar::program::Sequence& prog,
                             const poplar::DebugContext& debug);

poplar::Graph::TileToTensorMapping rows_mapping(const poplar::Graph& graph, const Grid& grid, std::size_t n);

// Can vertices of the grid use the table where it is?
bool in_place(const poplar::Graph& graph, const poplar::Tensor& table, const Grid& grid);

}  // namespace popops::internal
