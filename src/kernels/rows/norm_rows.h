// Normalisations of rows of floats, each a batch element's: in one pass over memory.
#pragma once

#include "kernels/kernel.h"

// For each row x: mean, inverse = 1 / sqrt(variance + eps), and y = (x - mean) * inverse * gamma + beta, element by element.
PANDO_KERNEL void pando_norm_rows_f32(unsigned long rows, unsigned long columns, const float* x, const float* gamma, const float* beta,
                                      float eps, float* y, float* mean, float* inverse);
// With h = (x - mean) * inverse and g = dy * gamma: dx = (g - mean(g) - h * mean(g * h)) * inverse for each row; dgamma = the sum over all
// rows of dy * h, dbeta that of dy.
PANDO_KERNEL void pando_norm_rows_gradient_f32(unsigned long rows, unsigned long columns, const float* x, const float* dy,
                                               const float* gamma, const float* mean, const float* inverse, float* dx, float* dgamma,
                                               float* dbeta);
