// Updates of weights, written into a step.
#pragma once

#include "models/step_builder.h"

namespace pando::models {

struct Optimizer {
  enum Kind : std::uint8_t { sgd, adam };
  Kind kind = sgd;
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

// Adam's states are inputs "<weight>.m" and "<weight>.v", and "step", which counts from 0.
void add_updates(StepBuilder& b, const Optimizer& optimizer, const std::vector<ir::ValueId>& weights,
                 const std::vector<ir::ValueId>& gradients, const std::vector<std::string>& names);

}  // namespace pando::models
