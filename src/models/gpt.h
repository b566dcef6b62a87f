// A GPT-2 or GPT-3 style transformer, one step of training; also with experts in place of the dense layers.
#pragma once

#include "models/optimizer.h"
#include "transform/distribute/layout/program.h"

#include <cstdint>
#include <optional>

namespace pando::models {

struct Gpt {
  std::int64_t layers = 2, heads = 2, width = 8, vocabulary = 16, sequence = 4, batch = 4;
  // Of the layer between, 0: four times the width.
  std::int64_t inner = 0;
  // More than 0: every other block has so many experts instead of its dense layer, one for each token. Each sequence has `capacity` places
  // in each expert; what does not fit passes by.
  std::int64_t experts = 0, capacity = 2;
  ir::DType dtype = ir::DType::float32;
  // Positions with this label count nothing: the loss is the mean over the others.
  std::optional<std::int64_t> ignored_label;
  Optimizer optimizer;
};

// Inputs: tokens and labels (batch, sequence), then the weights; the optimizer's states follow. Output: the mean loss. Layers: the
// embedding, each block, the head. Positions may be cut: tokens, labels and the table of positions say which dimension.
transform::Program build_gpt(const Gpt& options);

}  // namespace pando::models
