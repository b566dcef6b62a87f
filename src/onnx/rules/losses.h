// What the losses share.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// The negated logarithms of probabilities (batch, classes, others ...) at the labels of operand 1, weighted by operand 2, reduced as the
// node's attributes say.
ValueId likelihood_loss(Context& c, ValueId logs);

}  // namespace pando::onnx
