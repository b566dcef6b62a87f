// Convolutions of blocks, as sums of small matrix products.
//
// Along each field dimension, input i, kernel element t and output o meet iff  dilation * i == stride * o + offset + step * t.
// Operands are of float or half; sums are in float.
#pragma once

#include "kernels/kernel.h"

enum { kConvDims = 6, kConvPieces = 64 };

struct ConvLine {
  int in, out, taps, stride, dilation, offset, step;
};

// How an operand lies in memory. Field is all field (or kernel) dimensions in order. `b` is the batch of activations; weights have
// none. Channels of weights are those of the input and those of the output.
enum ConvOrder {
  kChannelsLast,     // activations [b][field][channels];  weights [field][in][out]: what the products read
  kChannelsFirst,    // activations [b][channels][field];  weights [in][out][field]
  kTransposed,       // weights [field][out][in]
  kTransposedFirst,  // weights [out][in][field]
  kByRow             // as kChannelsLast; a piece is one b and one element of the first field dimension, or one kernel element
};

// Some of an operand's channels (of weights: of the input channels), in the operand's order; all of them if that is kByRow, of which
// activations of one field dimension are not.
struct ConvPiece {
  const void* data;
  int channels;
};

struct ConvOperand {
  struct ConvPiece pieces[kConvPieces];
  int n_pieces;
  int order;  // ConvOrder
};

struct ConvBlock {
  int dims;  // 1 to kConvDims
  struct ConvLine lines[kConvDims];
  int batch, in_channels, out_channels;
  bool half_operands, half_result;
};

// result [b][field][out channels] = the convolution.
PANDO_KERNEL void pando_conv_forward(const struct ConvBlock* block, const struct ConvOperand* input, const struct ConvOperand* weights,
                                     void* result);
// result [taps][in channels][out channels] = the gradient of the weights, from the input and the gradient of the result.
PANDO_KERNEL void pando_conv_weight_gradient(const struct ConvBlock* block, const struct ConvOperand* input,
                                             const struct ConvOperand* output_gradient, void* result);
