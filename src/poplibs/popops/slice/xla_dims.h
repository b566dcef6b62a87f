// What gather and scatter share of XLA's way to describe dimensions.
#pragma once

#include <poplar/Tensor.hpp>

#include <vector>

namespace popops::internal {

// The indices with their vectors last. Throws poplibs_error if they are no integers or no vectors of `length`.
poplar::Tensor index_vectors(const char* function, const poplar::Tensor& indices, std::size_t vector_dim, std::size_t length);

// Are these different dimensions of a tensor of that rank?
bool are_dims(const std::vector<std::size_t>& dims, std::size_t rank);

}  // namespace popops::internal
