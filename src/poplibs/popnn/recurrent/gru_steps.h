// The passes of a layer of gated recurrent units, with what some of its forms have more.
#pragma once

#include <popnn/Gru.hpp>

#include "steps.h"

namespace popnn::gru {

// Reset gate, update gate, candidate.
constexpr std::size_t kGruUnits = 3;

struct Extras {
  const poplar::Tensor* attention = nullptr;  // {batch, steps}: how much of its update a step makes
  const poplar::Tensor* lengths = nullptr;    // {batch}: the steps that count
  bool keeps_state = false;                   // behind these: else it is 0
};

poplar::Tensor forward(const internal::Layer& layer, const GruParams& params, const poplar::Tensor& state, const poplar::Tensor& in,
                       const GruWeights& weights, const Extras& extras, poplar::Tensor* intermediates, poplar::program::Sequence& prog);

// What a backward pass leaves.
struct Gradients {
  poplar::Tensor state;      // of the initial state
  poplar::Tensor units;      // {steps, batch, units, outputs}: of the sums of each unit; with resetAfter of the product with the state, too
  poplar::Tensor attention;  // {batch, steps}
};
Gradients backward(const internal::Layer& layer, const GruParams& params, const poplar::Tensor& state, const poplar::Tensor& intermediates,
                   const GruWeights& weights, const poplar::Tensor& in, const poplar::Tensor& output_gradient, const Extras& extras,
                   poplar::Tensor* in_gradient, poplar::program::Sequence& prog);

GruWeights update(const internal::Layer& layer, const GruParams& params, const poplar::Tensor& state, const poplar::Tensor& intermediates,
                  const poplar::Tensor& unit_gradients, const GruWeights& weights, const poplar::Tensor& in,
                  poplar::program::Sequence& prog);

}  // namespace popnn::gru
