// Convolutions of images of floats that lie whole in memory: rows of the result, and a range of its channels.
#pragma once

#include <cstddef>

#include "kernels/elementwise/elementwise_matrix.h"
#include "kernels/kernel.h"

// Along a dimension, output o and kernel element t meet the input stride * o + offset + step * t; what is outside is zero. step >= 1.
struct PandoConvAxis {
  int in, taps, stride, offset, step;
};

struct PandoConvRows {
  PandoConvAxis rows, columns;
  int in_channels, out_channels;  // out_channels: those of this part
  int row_begin, row_end;         // of the result
  int out_columns;
  // Strides of the input's elements; of a row of weights, which has the weights of all outputs of one input channel of one kernel element;
  // of the result's columns: its rows follow each other.
  std::size_t in_row, in_column, in_channel, weights_row, out_column;
};

// `in`: the image's first element. `weights`: [kernel rows][kernel columns][in channels][out channels], from the part's first output
// channel on. `out`: the first element of row_begin. Each sum is taken in the order of the weights. An epilogue, whose matrices have a row
// for each pixel from row_begin on and whose first result is `out`, is computed on each row of pixels as soon as its sums are complete.
PANDO_KERNEL void pando_conv_rows(const PandoConvRows* conv, const float* in, const float* weights, float* out,
                                  const PandoEpilogue* epilogue = nullptr);
