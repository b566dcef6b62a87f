// Convolutions of images of halfs that lie whole in memory: computed in float, rounded once.
#pragma once

#include "kernels/conv/conv_rows.h"

// As pando_conv_rows, or as pando_conv_winograd if `winograd`: `in` and `out` are halfs. The image lies channels last, or channels first,
// without gaps.
PANDO_KERNEL void pando_conv_rows_f16(const PandoConvRows* conv, bool winograd, const void* in, const float* weights, void* out);
