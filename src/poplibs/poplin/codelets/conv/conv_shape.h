// How vertices of convolutions by rows get their numbers.
#pragma once

#include <cstddef>

#include "kernels/conv/conv_rows.h"

namespace poplin {

// Of the rows and of the columns: in, taps, stride, offset, step; then in and out channels, the first row and the end, columns; then the
// strides of the input.
template <class Numbers>
PandoConvRows conv_of_shape(const Numbers& shape) {
  const auto axis = [&](unsigned at) { return PandoConvAxis{shape[at], shape[at + 1], shape[at + 2], shape[at + 3], shape[at + 4]}; };
  const auto size = [&](unsigned at) { return static_cast<std::size_t>(shape[at]); };
  return {axis(0), axis(5), shape[10], shape[11], shape[12], shape[13], shape[14], size(15), size(16), size(17), size(11), size(11)};
}

}  // namespace poplin
