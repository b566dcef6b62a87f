#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/poputil/reject.h"

#include <algorithm>

#include <poputil/exceptions.hpp>

namespace popops::internal {

using poplar::Tensor;

std::string text(const Dims& shape) {
  std::string out = "{";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  return out + "}";
}

Dims behind(std::size_t n, const Dims& shape) {
  Dims out = {n};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

Tensor as_unsigned(const Tensor& offsets) {
  return offsets.elementType() == poplar::INT ? offsets.reinterpret(poplar::UNSIGNED_INT) : offsets;
}

void slice_error(const char* function, const std::string& what) {
  poputil::reject("slice-operands", "{}", std::string(function) + ": " + what);
}

void check_slicing(const char* function, const Dims& shape, const Dims& dims, const Dims& sizes) {
  if (dims.size() != sizes.size())
    slice_error(function,
                "there are " + std::to_string(dims.size()) + " dimensions to slice and " + std::to_string(sizes.size()) + " sizes");
  std::vector<bool> seen(shape.size(), false);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= shape.size()) slice_error(function, "dimension " + std::to_string(dims[i]) + " of a tensor of shape " + text(shape));
    if (seen[dims[i]]) slice_error(function, "dimension " + std::to_string(dims[i]) + " is sliced twice");
    seen[dims[i]] = true;
    if (sizes[i] > shape[dims[i]])
      slice_error(function, "a slice of size " + std::to_string(sizes[i]) + " of dimension " + std::to_string(dims[i]) +
                                " of a tensor of shape " + text(shape));
  }
}

void check_offsets(const char* function, const Tensor& offsets, const Dims& shape) {
  if (offsets.elementType() != poplar::UNSIGNED_INT && offsets.elementType() != poplar::INT)
    slice_error(function, "offsets are " + offsets.elementType().toString() + ", expected unsigned int");
  if (offsets.shape() != shape) slice_error(function, "offsets have shape " + text(offsets.shape()) + ", expected " + text(shape));
}

TableShape::TableShape(const Dims& shape, const Dims& dims, const Dims& sizes_in) : sizes(sizes_in), slice_shape(shape) {
  std::size_t after = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    row_dims.push_back(shape[dims[i]]);
    rows *= shape[dims[i]];
    window *= sizes[i];
    slice_shape[dims[i]] = sizes[i];
    order_.push_back(static_cast<unsigned>(dims[i]));
    after = std::max(after, dims[i] + 1);
  }
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (d >= after) inner *= shape[d];
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    order_.push_back(d);
    rest_.push_back(shape[d]);
    columns *= shape[d];
  }
  back_.resize(order_.size());
  for (unsigned i = 0; i < order_.size(); ++i) back_[order_[i]] = i;
}

Tensor TableShape::table(const Tensor& t) const { return t.dimShuffle(order_).reshape({rows, columns}); }

Tensor TableShape::tensor(const Tensor& table) const {
  Dims shape = row_dims;
  shape.insert(shape.end(), rest_.begin(), rest_.end());
  return table.reshape(shape).dimShuffle(back_);
}

Tensor TableShape::slices(const Tensor& s) const {
  std::vector<unsigned> order = {0};
  for (const unsigned d : order_) order.push_back(d + 1);
  return s.dimShuffle(order).reshape({s.dim(0) * window, columns});
}

Tensor TableShape::from_slices(const Tensor& rows_in, std::size_t n) const {
  Dims shape = {n};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  shape.insert(shape.end(), rest_.begin(), rest_.end());
  std::vector<unsigned> order = {0};
  for (const unsigned d : back_) order.push_back(d + 1);
  return rows_in.reshape(shape).dimShuffle(order);
}

}  // namespace popops::internal
