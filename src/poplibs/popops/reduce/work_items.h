// How the elements that lie on a tile are cut into items of work.
//
// A reduction is seen as a row-major array of dimensions that are kept or reduced in turn. "Input positions" number its elements, "outputs"
// the elements of the kept dimensions alone. A tile's elements are intervals of input positions; an interval is a few boxes (with
// two dimensions: the end of a row, whole rows, the beginning of a row), and each box is reduced to an interval of outputs.
#pragma once

#include <poplar/Interval.hpp>

#include <cstddef>
#include <vector>

namespace popops::internal {

struct ViewDim {
  std::size_t size;
  bool reduced;
};
using ViewDims = std::vector<ViewDim>;

// Contiguous elements of a space: space 0 is the input; space i the partial results that stage i - 1 wrote.
struct Region {
  std::size_t begin, size;
  unsigned space = 0;
};

// Regions that are reduced to `outputs` outputs from `begin` on. Each is an array [n][outputs / inner][middle][inner], as in
// kernels/rows/reduce.h.
// `row`, unless it is 0: the one region has rows of `outputs` elements whose begins are so far apart, columns of a matrix that lies whole.
struct WorkItem {
  std::size_t begin = 0, outputs = 0, middle = 1, inner = 1;
  std::vector<Region> regions;
  std::size_t at = 0;  // where its results are in the space of partial results, if they go there

  std::size_t row = 0;

  std::size_t elements() const;
  bool reduces() const { return elements() > outputs; }
  // All regions are rows of `outputs` elements.
  bool is_rows() const { return inner == outputs; }
};
using WorkItems = std::vector<WorkItem>;

// The items of an interval of input positions, one for each box.
void append_items(const ViewDims& dims, const poplar::Interval& interval, WorkItems& items);

// Puts items together that reduce to the same outputs in the same way, and those that overlap, if that costs few regions.
WorkItems joined(WorkItems items);

// Appends the item, or if it has much more than `target` elements parts of it: cut between outputs where that keeps regions long, else
// into several that share outputs. That costs another stage, if no other item shares the outputs: `shared`.
// `columns`: parts may be columns of the item's one region.
void append_divided(const WorkItem& item, std::size_t target, bool shared, bool columns, WorkItems& parts);

// An item of columns with each row as a region.
void take_rows_apart(WorkItem& item);

// An interval of outputs that somebody has parts of.
struct Source {
  std::size_t begin, end;
  std::size_t at;  // of the part that belongs to `begin`
  unsigned space = 0;
};

// Outputs [begin, end) and the sources that have parts of all of them.
struct Band {
  std::size_t begin, end;
  std::vector<Source> sources;  // cut to the band
};
std::vector<Band> bands_of(std::vector<Source> sources);

}  // namespace popops::internal
