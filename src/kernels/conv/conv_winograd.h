// Convolutions with kernels of 3 x 3, two rows and two columns of the result at a time: 16 products of numbers where the definition has 36
// (Winograd's F(2 x 2, 3 x 3)). Sums are of numbers up to four times as large as the definition's.
#pragma once

#include "kernels/conv/conv_rows.h"

// Weights as the convolution reads them: of `n` pairs of channels, in[t * n + i] is kernel element t (of 9) and out[k][i] is one of 16.
// Pairs [begin, end).
PANDO_KERNEL void pando_winograd_weights(unsigned long n, unsigned long begin, unsigned long end, const float* in, float* const* out);

// As pando_conv_rows, where both axes have three taps, stride 1 and step 1, the rows and columns of the result are even in number, and so
// are vectors of both channels: multiples of 16, at most 4,096. `weights`: [16][in channels][out channels].
PANDO_KERNEL void pando_conv_winograd(const PandoConvRows* conv, const float* in, const float* weights, float* out,
                                      const PandoEpilogue* epilogue = nullptr);
