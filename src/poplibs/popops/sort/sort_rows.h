// Sorting the rows of a matrix, on all tiles.
//
// Keys become unsigned integers of the same order ("codes"), with a value or a position in their low half if there is one. A row is cut
// into blocks, which are sorted where they are. Blocks on one tile are merged there, by pairs, with all its workers. Blocks on
// different tiles go through Batcher's merge exchange (Knuth, volume 3, 5.2.2 M): a comparator of blocks i < j leaves the lower half of
// both in i and the upper half in j. Blocks have equal lengths: the last is filled up with the greatest code.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <utility>
#include <vector>

namespace popops::internal {

// rows x length keys in `parts` blocks of `block` each.
struct SortLayout {
  std::size_t rows = 0, length = 0, parts = 1, block = 0;
  unsigned tiles = 1;
  unsigned tile(std::size_t row, std::size_t part) const { return static_cast<unsigned>((row * parts + part) * tiles / (rows * parts)); }
  std::size_t begin(std::size_t part) const { return std::min(length, part * block); }
};
SortLayout sort_layout(const poplar::Target& target, std::size_t rows, std::size_t length, std::size_t least_block);

// What one vertex does: a block of one row, or, if rows are not cut, whole rows of one tile.
struct SortUnit {
  unsigned tile;
  std::size_t row, end_row, part;
};
std::vector<SortUnit> sort_units(const poplar::Target& target, const SortLayout& layout);

// The comparators of n inputs, stage by stage.
std::vector<std::vector<std::pair<unsigned, unsigned>>> merge_exchange(unsigned n);

// What the codes carry besides keys.
enum class Payload { none, position, value };
poplar::Type code_type(Payload payload);

// A new variable [rows][parts * width] with `width` elements where each block is.
poplar::Tensor like_blocks(poplar::Graph& graph, const poplar::Type& type, const SortLayout& layout, std::size_t width,
                           const poplar::DebugContext& debug);

// [rows][parts * block] codes of `keys` [rows][length]. Positions count from the beginning of the row, or of the matrix.
poplar::Tensor encode_keys(poplar::Graph& graph, const poplar::Tensor& keys, const poplar::Tensor& values, const SortLayout& layout,
                           Payload payload, bool descending, bool positions_in_matrix, poplar::program::Sequence& prog,
                           const poplar::DebugContext& debug);
// Keys (and values, of type `value_type`) of codes [rows][length], where `layout` has the codes.
poplar::Tensor decode_keys(poplar::Graph& graph, const poplar::Tensor& codes, const poplar::Type& type, const SortLayout& layout,
                           bool descending, poplar::program::Sequence& prog, const poplar::DebugContext& debug);
poplar::Tensor decode_values(poplar::Graph& graph, const poplar::Tensor& codes, const poplar::Type& type, const SortLayout& layout,
                             poplar::program::Sequence& prog, const poplar::DebugContext& debug);

// Sorted codes [rows][parts * block].
poplar::Tensor sort_codes(poplar::Graph& graph, const poplar::Tensor& codes, const SortLayout& layout, poplar::program::Sequence& prog,
                          const poplar::DebugContext& debug);

// Throw poplibs_error, naming the function, for types that cannot be sorted, or cannot be values.
void check_keys(const char* function, const poplar::Tensor& keys);
// Shapes, types, and that both belong to the graph.
void check_values(const char* function, const poplar::Graph& graph, const poplar::Tensor& keys, const poplar::Tensor& values);

}  // namespace popops::internal
