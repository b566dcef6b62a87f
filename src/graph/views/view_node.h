// Inside a view: how its elements are found. Private to view*.cpp.
//
// There are two kinds of thing. A `Strided` is a grid of dimensions (size, stride) over a source. A source is a variable's
// elements or a `Chain`; a chain is a flat sequence of extents, and an extent is a contiguous range of a variable or of the
// row-major order of a strided block. Every operation is one of two:
//
//   slice, index, dim_shuffle, reverse, broadcast, sub_sample     arithmetic on one grid's offset, sizes and strides
//   concat; reshape where dimensions do not merge                 a new chain, with a row-major grid over it
//
//   t: {2,3} of v     t.dim_shuffle({1,0}).flatten():   grid {6: 1} over chain [ block {3: 1, 2: 3} over v ]
//
// A grid that stays inside one extent of its chain is put back onto what the extent is made of (`settle`), so that undoing an
// operation also undoes the structure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "graph/views/view.h"

namespace pando::graph {

struct Dim {
  std::uint64_t size = 1;
  std::int64_t stride = 0;
  friend bool operator==(const Dim&, const Dim&) = default;
};

struct Chain;

struct Source {
  VariableId variable;                 // valid, or
  std::shared_ptr<const Chain> chain;  // set
  friend bool operator==(const Source&, const Source&) = default;
};

// Element (i0, i1, ...) is source[offset + i0 * dims[0].stride + i1 * dims[1].stride + ...]. No size is 0.
struct Strided {
  Source source;
  std::int64_t offset = 0;
  std::vector<Dim> dims;
};

struct Extent {
  std::uint64_t start = 0;  // where it begins in the chain; it ends where the next one begins
  VariableId variable;      // valid: elements [offset, ...) of the variable
  std::uint64_t offset = 0;
  std::shared_ptr<const Strided> block;  // else: elements [offset, ...) of the block in row-major order; coalesced
};

struct Chain {
  std::vector<Extent> extents;
  std::uint64_t size = 0;
  unsigned depth = 1;  // chains below this one, and itself

  std::uint64_t end_of(std::size_t extent) const { return extent + 1 < extents.size() ? extents[extent + 1].start : size; }
  std::size_t find(std::uint64_t position) const;  // the extent that holds it
};

struct View::Node : Strided {};

std::uint64_t elements_of(const std::vector<Dim>& dims);
// The one variable that all of a source is made of; invalid if there are several, or if more than a few extents have to be looked at.
VariableId only_variable(const Source& source);
std::vector<Dim> row_major(const Shape& shape);
bool is_row_major(const std::vector<Dim>& dims);
// The same order in the fewest dimensions: without sizes of 1, with neighbours merged where their strides allow.
std::vector<Dim> coalesce(const std::vector<Dim>& dims);
// The same elements in the order of their positions, each position once; says whether positions repeat for certain.
Strided in_source_order(const Strided& grid, bool* repeated);

// Puts the grid onto what its chain is made of, as far as it lies inside one extent.
void settle(Strided& grid);
// A 1-D chain of the blocks' elements, one block after the other.
std::shared_ptr<const Chain> make_chain(const std::vector<Strided>& blocks);
// The same source with other variables.
Source renamed(const Source& source, const std::function<VariableId(VariableId)>& to);
// Adds `next`, which follows `grid` along dimension 0, to it, if one grid can be both.
bool try_extend(Strided& grid, const Strided& next);

}  // namespace pando::graph
