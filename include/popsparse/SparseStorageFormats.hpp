#ifndef popsparse_SparseStorageFormats_hpp
#define popsparse_SparseStorageFormats_hpp

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace popsparse {

/// The shape {rows, columns} of a matrix's blocks; {1, 1}: single elements.
struct Block {
  std::size_t getNumRowsInBlock() const { return blockDimensions[0]; }
  std::size_t getNumColumnsInBlock() const { return blockDimensions[1]; }
  /// Elements of a block.
  std::size_t getBlockSize() const { return blockDimensions[0] * blockDimensions[1]; }
  std::array<std::size_t, 2> getBlockDimensions() const { return blockDimensions; }

 protected:
  std::array<std::size_t, 2> blockDimensions;
};

/// A sparse matrix of blocks at coordinates. The elements of a block follow each other row by row; columnIndices and rowIndices give the
/// element at its top left, one entry for each block, in any order.
template <typename T> struct COOMatrix : Block {
  /// Of the dense matrix; 0 where the caller of a function knows them.
  std::size_t numRows = 0;
  std::size_t numColumns = 0;
  std::vector<T> nzValues;
  std::vector<std::size_t> columnIndices;
  std::vector<std::size_t> rowIndices;

  COOMatrix(const std::vector<T>& nzValues_, const std::vector<std::size_t>& columnIndices_, const std::vector<std::size_t>& rowIndices_,
            const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : COOMatrix(0, 0, nzValues_, columnIndices_, rowIndices_, blockDimensions_) {}
  COOMatrix(std::size_t numRows_, std::size_t numColumns_, const std::vector<T>& nzValues_, const std::vector<std::size_t>& columnIndices_,
            const std::vector<std::size_t>& rowIndices_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : numRows(numRows_), numColumns(numColumns_), nzValues(nzValues_), columnIndices(columnIndices_), rowIndices(rowIndices_) {
    Block::blockDimensions = blockDimensions_;
  }
  COOMatrix(std::vector<T>&& nzValues_, std::vector<std::size_t>&& columnIndices_, std::vector<std::size_t>&& rowIndices_,
            const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : COOMatrix(0, 0, std::move(nzValues_), std::move(columnIndices_), std::move(rowIndices_), blockDimensions_) {}
  COOMatrix(std::size_t numRows_, std::size_t numColumns_, std::vector<T>&& nzValues_, std::vector<std::size_t>&& columnIndices_,
            std::vector<std::size_t>&& rowIndices_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : numRows(numRows_),
        numColumns(numColumns_),
        nzValues(std::move(nzValues_)),
        columnIndices(std::move(columnIndices_)),
        rowIndices(std::move(rowIndices_)) {
    Block::blockDimensions = blockDimensions_;
  }
  /// Room for \p numNZValues blocks of one element each.
  COOMatrix(std::size_t numNZValues, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : nzValues(numNZValues), columnIndices(numNZValues), rowIndices(numNZValues) {
    Block::blockDimensions = blockDimensions_;
  }
  COOMatrix(const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}}) { Block::blockDimensions = blockDimensions_; }
  COOMatrix(const COOMatrix&) = default;
  COOMatrix& operator=(const COOMatrix&) = default;
};

/// A sparse matrix in compressed columns. columnIndices has the place in nzValues at which each column of blocks begins, and after them
/// the number of values; rowIndices the row of each block's first element. The elements of a block follow each other column by column.
template <typename T> struct CSCMatrix : Block {
  std::size_t numRows = 0;
  std::size_t numColumns = 0;
  std::vector<T> nzValues;
  std::vector<std::size_t> columnIndices;
  std::vector<std::size_t> rowIndices;

  CSCMatrix(const std::vector<T>& nzValues_, const std::vector<std::size_t>& columnIndices_, const std::vector<std::size_t>& rowIndices_,
            const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : CSCMatrix(0, 0, nzValues_, columnIndices_, rowIndices_, blockDimensions_) {}
  CSCMatrix(std::size_t numRows_, std::size_t numColumns_, const std::vector<T>& nzValues_, const std::vector<std::size_t>& columnIndices_,
            const std::vector<std::size_t>& rowIndices_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : numRows(numRows_), numColumns(numColumns_), nzValues(nzValues_), columnIndices(columnIndices_), rowIndices(rowIndices_) {
    Block::blockDimensions = blockDimensions_;
  }
  CSCMatrix(std::vector<T>&& nzValues_, std::vector<std::size_t>&& columnIndices_, std::vector<std::size_t>&& rowIndices_,
            const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : CSCMatrix(0, 0, std::move(nzValues_), std::move(columnIndices_), std::move(rowIndices_), blockDimensions_) {}
  CSCMatrix(std::size_t numRows_, std::size_t numColumns_, std::vector<T>&& nzValues_, std::vector<std::size_t>&& columnIndices_,
            std::vector<std::size_t>&& rowIndices_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : numRows(numRows_),
        numColumns(numColumns_),
        nzValues(std::move(nzValues_)),
        columnIndices(std::move(columnIndices_)),
        rowIndices(std::move(rowIndices_)) {
    Block::blockDimensions = blockDimensions_;
  }
  /// Room for \p numNZValues elements in \p numColumns_ columns.
  CSCMatrix(std::size_t numNZValues, std::size_t numColumns_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : nzValues(numNZValues), columnIndices(numColumns_ + 1), rowIndices(numNZValues) {
    Block::blockDimensions = blockDimensions_;
  }
  CSCMatrix(const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}}) { Block::blockDimensions = blockDimensions_; }
  CSCMatrix(const CSCMatrix&) = default;
  CSCMatrix& operator=(const CSCMatrix&) = default;
};

/// A sparse matrix in compressed rows. rowIndices has the place in nzValues at which each row of blocks begins, and after them the number
/// of values; columnIndices the column of each block's first element. The elements of a block follow each other row by row.
template <typename T> struct CSRMatrix : Block {
  std::size_t numRows = 0;
  std::size_t numColumns = 0;
  std::vector<T> nzValues;
  std::vector<std::size_t> columnIndices;
  std::vector<std::size_t> rowIndices;

  CSRMatrix(const std::vector<T>& nzValues_, const std::vector<std::size_t>& columnIndices_, const std::vector<std::size_t>& rowIndices_,
            const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : CSRMatrix(0, 0, nzValues_, columnIndices_, rowIndices_, blockDimensions_) {}
  CSRMatrix(std::size_t numRows_, std::size_t numColumns_, const std::vector<T>& nzValues_, const std::vector<std::size_t>& columnIndices_,
            const std::vector<std::size_t>& rowIndices_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : numRows(numRows_), numColumns(numColumns_), nzValues(nzValues_), columnIndices(columnIndices_), rowIndices(rowIndices_) {
    Block::blockDimensions = blockDimensions_;
  }
  CSRMatrix(std::vector<T>&& nzValues_, std::vector<std::size_t>&& columnIndices_, std::vector<std::size_t>&& rowIndices_,
            const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : CSRMatrix(0, 0, std::move(nzValues_), std::move(columnIndices_), std::move(rowIndices_), blockDimensions_) {}
  CSRMatrix(std::size_t numRows_, std::size_t numColumns_, std::vector<T>&& nzValues_, std::vector<std::size_t>&& columnIndices_,
            std::vector<std::size_t>&& rowIndices_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : numRows(numRows_),
        numColumns(numColumns_),
        nzValues(std::move(nzValues_)),
        columnIndices(std::move(columnIndices_)),
        rowIndices(std::move(rowIndices_)) {
    Block::blockDimensions = blockDimensions_;
  }
  /// Room for \p numNZValues elements in \p numRows_ rows.
  CSRMatrix(std::size_t numNZValues, std::size_t numRows_, const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}})
      : nzValues(numNZValues), columnIndices(numNZValues), rowIndices(numRows_ + 1) {
    Block::blockDimensions = blockDimensions_;
  }
  CSRMatrix(const std::array<std::size_t, 2>& blockDimensions_ = {{1, 1}}) { Block::blockDimensions = blockDimensions_; }
  CSRMatrix(const CSRMatrix&) = default;
  CSRMatrix& operator=(const CSRMatrix&) = default;
};

}  // namespace popsparse

#endif
