// Arguments of the slicing functions: checks, and tensors as tables of rows.
#pragma once

#include <poplar/Tensor.hpp>

#include <string>
#include <vector>

namespace popops::internal {

using Dims = std::vector<std::size_t>;

// Throws poplibs_error, naming `function`, if `dims` and `sizes` do not describe a slice of `shape`.
void check_slicing(const char* function, const Dims& shape, const Dims& dims, const Dims& sizes);
// Offsets: an integer tensor of that shape.
void check_offsets(const char* function, const poplar::Tensor& offsets, const Dims& shape);
[[noreturn]] void slice_error(const char* function, const std::string& what);
std::string text(const Dims& shape);
// {n, shape ...}
Dims behind(std::size_t n, const Dims& shape);
// Signed offsets as unsigned ones.
poplar::Tensor as_unsigned(const poplar::Tensor& offsets);

// How a tensor of `shape` is a table: a row is a coordinate in the sliced dimensions, a column one in the others.
class TableShape {
 public:
  TableShape(const Dims& shape, const Dims& dims, const Dims& sizes);

  poplar::Tensor table(const poplar::Tensor& t) const;       // {shape} -> [rows][columns]
  poplar::Tensor tensor(const poplar::Tensor& table) const;  // back
  // {n, slice shape} -> [n * window][columns], and back.
  poplar::Tensor slices(const poplar::Tensor& s) const;
  poplar::Tensor from_slices(const poplar::Tensor& rows, std::size_t n) const;

  Dims row_dims;  // the sliced dimensions' sizes
  Dims sizes;
  Dims slice_shape;  // of the tensor, `sizes` in `dims`
  std::size_t rows = 1, columns = 1;
  std::size_t window = 1;  // rows of a slice
  std::size_t inner = 1;   // columns that lie side by side in a tensor in its natural layout

 private:
  Dims rest_;
  std::vector<unsigned> order_, back_;  // sliced dimensions first; and back
};

}  // namespace popops::internal
