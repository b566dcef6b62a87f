// Softmax over rows, whole or in pieces. A piece of a row is summarised by two numbers, {max, sum of exp(x - max)}; the summaries of all
// pieces of a row, in order, give what every element needs. half is computed in float; `out` may be `in`.
#pragma once

#include "kernels/kernel.h"

namespace pando::kernels {

struct SoftmaxSummary {
  float max;
  float sum;
};

}  // namespace pando::kernels

// exp(x - max) * scale / sum, or with `log` x - max - log(sum), for every row of `columns` elements.
PANDO_KERNEL void pando_softmax_rows_f32(unsigned long rows, unsigned long columns, const float* in, float* out, float scale, bool log);
PANDO_KERNEL void pando_softmax_rows_f16(unsigned long rows, unsigned long columns, const void* in, void* out, float scale, bool log);

PANDO_KERNEL void pando_softmax_summary_f32(unsigned long n, const float* in, pando::kernels::SoftmaxSummary* out);
PANDO_KERNEL void pando_softmax_summary_f16(unsigned long n, const void* in, pando::kernels::SoftmaxSummary* out);
// The summary of a row from those of its pieces.
PANDO_KERNEL void pando_softmax_merge(unsigned long pieces, const pando::kernels::SoftmaxSummary* in, pando::kernels::SoftmaxSummary* out);
// The elements of a piece, given the row's summary.
PANDO_KERNEL void pando_softmax_finish_f32(unsigned long n, const float* in, const pando::kernels::SoftmaxSummary* row, float* out,
                                           float scale, bool log);
PANDO_KERNEL void pando_softmax_finish_f16(unsigned long n, const void* in, const pando::kernels::SoftmaxSummary* row, void* out,
                                           float scale, bool log);

// Gradients: with y = scale * softmax(x), out = y (gradient - dot(y, gradient) / scale).
PANDO_KERNEL float pando_dot_f32(unsigned long n, const float* a, const float* b);
PANDO_KERNEL float pando_dot_f16(unsigned long n, const void* a, const void* b);
PANDO_KERNEL void pando_softmax_gradient_f32(unsigned long n, const float* act, const float* gradient, float dot, float* out);
PANDO_KERNEL void pando_softmax_gradient_f16(unsigned long n, const void* act, const void* gradient, float dot, void* out);
