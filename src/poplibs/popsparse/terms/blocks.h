// A sparse matrix as a list of its blocks, whichever format it came in.
#pragma once

#include <poplar/Type.hpp>
#include <popsparse/SparseStorageFormats.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace popsparse {

// Row and column of a block, counted in blocks.
struct Place {
  std::size_t row = 0, column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Shape {
  std::size_t rows = 0, columns = 0;         // of the matrix, in elements
  std::array<std::size_t, 2> block{{1, 1}};  // {rows, columns}
  std::size_t area() const { return block[0] * block[1]; }
  std::size_t block_rows() const { return rows / block[0]; }
  std::size_t block_columns() const { return columns / block[1]; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// They throw poplibs_error, beginning with `function`: for blocks that do not divide the matrix; for more than one group, and types other
// than FLOAT and HALF.
void check_blocks(const char* function, const Shape& shape);
void check_groups_and_type(const char* function, std::size_t groups, const poplar::Type& type);

// places ascend; values follow in their order, row by row within a block.
template <class T>
struct Blocks {
  std::vector<Place> places;
  std::vector<T> values;
};

// Of a matrix of this shape. They throw poplibs_error, beginning with `function`, for a matrix that is not well formed, has other blocks or
// dimensions (0: not said), or two blocks in one place.
template <class T>
Blocks<T> blocks_of(const char* function, const Shape& shape, const CSRMatrix<T>& matrix);
template <class T>
Blocks<T> blocks_of(const char* function, const Shape& shape, const CSCMatrix<T>& matrix);
template <class T>
Blocks<T> blocks_of(const char* function, const Shape& shape, const COOMatrix<T>& matrix);

template <class T>
CSRMatrix<T> to_csr(const Shape& shape, const Blocks<T>& blocks);
template <class T>
CSCMatrix<T> to_csc(const Shape& shape, const Blocks<T>& blocks);
template <class T>
COOMatrix<T> to_coo(const Shape& shape, const Blocks<T>& blocks);

}  // namespace popsparse
