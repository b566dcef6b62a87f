// A multi-layer perceptron of square layers, one step of training: forward, backward, update.
#pragma once

#include "transform/distribute/layout/program.h"

#include <cstdint>

namespace pando::models {

struct Mlp {
  std::int64_t layers = 2, width = 4, batch = 8;
  ir::DType dtype = ir::DType::float32;
  double learning_rate = 0;
};

// Inputs: x, z (what it should give), n (the batch size, int32), w0, w1, ...; none has data. Outputs: the loss of each element, the
// gradient of x, and those of the weights, last one first. The weights' updated inputs are their updates.
//
//     y_i = matmul(a_i, w_i); a_i+1 = relu(y_i)                     forward
//     l = squared_loss(a, z, n); dl = squared_loss_grad(a, z, n)
//     dy_i = relu_grad(y_i, da_i+1); da_i, dw_i = matmul_grad(a_i, w_i, dy_i)    backward, last layer first
//     w = sgd(w, dw)                                                 one op for all
transform::Program build_mlp(const Mlp& options);

}  // namespace pando::models
