#include "poplibs/popsparse/terms/blocks.h"

#include <algorithm>
#include <numeric>

#include "poplibs/poputil/reject.h"

namespace popsparse {
namespace {

using poputil::reject;

void check_dimensions(const char* function, const Shape& shape, const Block& block, std::size_t rows, std::size_t columns,
                      std::size_t values) {
  if (block.getBlockDimensions() != shape.block)
    reject("popsparse-matrix-blocks", "{}: the matrix has blocks of {} x {}, expected {} x {}", function, block.getNumRowsInBlock(),
           block.getNumColumnsInBlock(), shape.block[0], shape.block[1]);
  if ((rows != 0 && rows != shape.rows) || (columns != 0 && columns != shape.columns))
    reject("popsparse-matrix-shape", "{}: the matrix is {} x {}, expected {} x {}", function, rows, columns, shape.rows, shape.columns);
  if (values % shape.area() != 0)
    reject("popsparse-matrix-values", "{}: {} values are no whole number of blocks of {}", function, values, shape.area());
}

Place place_of(const char* function, const Shape& shape, std::size_t row, std::size_t column) {
  if (row >= shape.rows || column >= shape.columns || row % shape.block[0] != 0 || column % shape.block[1] != 0)
    reject("popsparse-matrix-place", "{}: a block at row {}, column {}; the matrix of {} x {} has blocks of {} x {}", function, row, column,
           shape.rows, shape.columns, shape.block[0], shape.block[1]);
  return {row / shape.block[0], column / shape.block[1]};
}

// Begins of compressed rows (or columns): ascending, whole blocks, from 0 to all values.
void check_begins(const char* function, const std::vector<std::size_t>& begins, std::size_t lines, std::size_t values, std::size_t area,
                  std::size_t indices) {
  const bool ascending = std::is_sorted(begins.begin(), begins.end());
  const bool whole = std::all_of(begins.begin(), begins.end(), [&](std::size_t b) { return b % area == 0; });
  if (begins.size() != lines + 1 || !ascending || !whole || begins.front() != 0 || begins.back() != values)
    reject("popsparse-matrix-begins",
           "{}: the begins of {} rows or columns of blocks are {} numbers; expected {}, ascending from 0 to the {} values by whole blocks "
           "of {}",
           function, lines, begins.size(), lines + 1, values, area);
  if (indices != values / area) reject("popsparse-matrix-indices", "{}: {} indices for {} blocks", function, indices, values / area);
}

// Sorts blocks whose values are at found[i].second, element (a, b) at steps[0] * a + steps[1] * b from there.
template <class T>
Blocks<T> sorted(const char* function, const Shape& shape, std::vector<std::pair<Place, std::size_t>> found, const std::vector<T>& values,
                 std::array<std::size_t, 2> steps) {
  std::sort(found.begin(), found.end());
  Blocks<T> out;
  out.places.reserve(found.size());
  out.values.reserve(values.size());
  for (const auto& [place, at] : found) {
    if (!out.places.empty() && out.places.back() == place)
      reject("popsparse-matrix-twice", "{}: two blocks at row {}, column {}", function, place.row * shape.block[0],
             place.column * shape.block[1]);
    out.places.push_back(place);
    for (std::size_t a = 0; a < shape.block[0]; ++a)
      for (std::size_t b = 0; b < shape.block[1]; ++b) out.values.push_back(values[at + steps[0] * a + steps[1] * b]);
  }
  return out;
}

}  // namespace

void check_blocks(const char* function, const Shape& shape) {
  if (shape.area() == 0 || shape.rows % shape.block[0] != 0 || shape.columns % shape.block[1] != 0)
    reject("popsparse-blocks", "{}: blocks of {} x {} do not divide a matrix of {} x {}", function, shape.block[0], shape.block[1],
           shape.rows, shape.columns);
}

void check_groups_and_type(const char* function, std::size_t groups, const poplar::Type& type) {
  if (groups != 1) reject("popsparse-one-group", "{}: {} groups; sparse products have one", function, groups);
  if (type != poplar::FLOAT && type != poplar::HALF)
    reject("popsparse-type", "{}: elements of type {}; expected float or half", function, type.toString());
}

template <class T>
Blocks<T> blocks_of(const char* function, const Shape& shape, const CSRMatrix<T>& m) {
  check_dimensions(function, shape, m, m.numRows, m.numColumns, m.nzValues.size());
  check_begins(function, m.rowIndices, shape.block_rows(), m.nzValues.size(), shape.area(), m.columnIndices.size());
  std::vector<std::pair<Place, std::size_t>> found;
  for (std::size_t row = 0; row < shape.block_rows(); ++row)
    for (std::size_t at = m.rowIndices[row]; at < m.rowIndices[row + 1]; at += shape.area())
      found.emplace_back(place_of(function, shape, row * shape.block[0], m.columnIndices[at / shape.area()]), at);
  return sorted(function, shape, std::move(found), m.nzValues, {shape.block[1], 1});
}

template <class T>
Blocks<T> blocks_of(const char* function, const Shape& shape, const CSCMatrix<T>& m) {
  check_dimensions(function, shape, m, m.numRows, m.numColumns, m.nzValues.size());
  check_begins(function, m.columnIndices, shape.block_columns(), m.nzValues.size(), shape.area(), m.rowIndices.size());
  std::vector<std::pair<Place, std::size_t>> found;
  for (std::size_t column = 0; column < shape.block_columns(); ++column)
    for (std::size_t at = m.columnIndices[column]; at < m.columnIndices[column + 1]; at += shape.area())
      found.emplace_back(place_of(function, shape, m.rowIndices[at / shape.area()], column * shape.block[1]), at);
  return sorted(function, shape, std::move(found), m.nzValues, {1, shape.block[0]});
}

template <class T>
Blocks<T> blocks_of(const char* function, const Shape& shape, const COOMatrix<T>& m) {
  check_dimensions(function, shape, m, m.numRows, m.numColumns, m.nzValues.size());
  const std::size_t blocks = m.nzValues.size() / shape.area();
  if (m.rowIndices.size() != blocks || m.columnIndices.size() != blocks)
    reject("popsparse-matrix-indices", "{}: {} row and {} column indices for {} blocks", function, m.rowIndices.size(),
           m.columnIndices.size(), blocks);
  std::vector<std::pair<Place, std::size_t>> found;
  for (std::size_t i = 0; i < blocks; ++i)
    found.emplace_back(place_of(function, shape, m.rowIndices[i], m.columnIndices[i]), i * shape.area());
  return sorted(function, shape, std::move(found), m.nzValues, {shape.block[1], 1});
}

template <class T>
CSRMatrix<T> to_csr(const Shape& shape, const Blocks<T>& blocks) {
  CSRMatrix<T> m(shape.block);
  m.numRows = shape.rows, m.numColumns = shape.columns;
  m.nzValues = blocks.values;
  m.rowIndices.assign(shape.block_rows() + 1, 0);
  for (const Place& p : blocks.places) {
    m.rowIndices[p.row + 1] += shape.area();
    m.columnIndices.push_back(p.column * shape.block[1]);
  }
  std::partial_sum(m.rowIndices.begin(), m.rowIndices.end(), m.rowIndices.begin());
  return m;
}

template <class T>
CSCMatrix<T> to_csc(const Shape& shape, const Blocks<T>& blocks) {
  std::vector<std::size_t> order(blocks.places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocks.places[a].column < blocks.places[b].column; });
  CSCMatrix<T> m(shape.block);
  m.numRows = shape.rows, m.numColumns = shape.columns;
  m.columnIndices.assign(shape.block_columns() + 1, 0);
  for (const std::size_t i : order) {
    m.columnIndices[blocks.places[i].column + 1] += shape.area();
    m.rowIndices.push_back(blocks.places[i].row * shape.block[0]);
    for (std::size_t b = 0; b < shape.block[1]; ++b)
      for (std::size_t a = 0; a < shape.block[0]; ++a) m.nzValues.push_back(blocks.values[i * shape.area() + a * shape.block[1] + b]);
  }
  std::partial_sum(m.columnIndices.begin(), m.columnIndices.end(), m.columnIndices.begin());
  return m;
}

template <class T>
COOMatrix<T> to_coo(const Shape& shape, const Blocks<T>& blocks) {
  COOMatrix<T> m(shape.block);
  m.numRows = shape.rows, m.numColumns = shape.columns;
  m.nzValues = blocks.values;
  for (const Place& p : blocks.places) {
    m.rowIndices.push_back(p.row * shape.block[0]);
    m.columnIndices.push_back(p.column * shape.block[1]);
  }
  return m;
}

#define POPSPARSE_FORMATS(T)                                                    \
  template Blocks<T> blocks_of(const char*, const Shape&, const CSRMatrix<T>&); \
  template Blocks<T> blocks_of(const char*, const Shape&, const CSCMatrix<T>&); \
  template Blocks<T> blocks_of(const char*, const Shape&, const COOMatrix<T>&); \
  template CSRMatrix<T> to_csr(const Shape&, const Blocks<T>&);                 \
  template CSCMatrix<T> to_csc(const Shape&, const Blocks<T>&);                 \
  template COOMatrix<T> to_coo(const Shape&, const Blocks<T>&);
POPSPARSE_FORMATS(float)
POPSPARSE_FORMATS(double)
#undef POPSPARSE_FORMATS

}  // namespace popsparse
