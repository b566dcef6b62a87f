// Activation functions and their gradients, element by element. half is computed in float. NaN in gives NaN out.
#pragma once

#include "kernels/kernel.h"

namespace pando::kernels {

// `gelu` is the tanh form, x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3))); `gelu_erf` is x Phi(x).
enum class Activation : unsigned char { sigmoid, hard_sigmoid, relu, tanh, gelu, gelu_erf, swish, count };

}  // namespace pando::kernels

// out[i] = f(in[i]); `out` may be `in`.
PANDO_KERNEL void pando_activation_f32(pando::kernels::Activation f, unsigned long n, const float* in, float* out);
PANDO_KERNEL void pando_activation_f16(pando::kernels::Activation f, unsigned long n, const void* in, void* out);
// out[i] = gradient[i] * f'; `act` is f's result (sigmoid, hard_sigmoid, relu, tanh) or its operand (the others). `out` may be an operand.
PANDO_KERNEL void pando_activation_gradient_f32(pando::kernels::Activation f, unsigned long n, const float* act, const float* gradient,
                                                float* out);
PANDO_KERNEL void pando_activation_gradient_f16(pando::kernels::Activation f, unsigned long n, const void* act, const void* gradient,
                                                void* out);
