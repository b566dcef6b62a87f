// A step of training of an ONNX model: forward, backward, update.
//
// The loss is an output of the model, or nodes of ONNX's own that are put behind one: SoftmaxCrossEntropyLoss, or the mean of squared
// differences; their targets are a further input, "target". Weights are what import_model makes variables of; those that the loss follows
// from are trained, but for running means and variances of BatchNormalization.
#pragma once

#include "onnx/import.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace pando::onnx {

struct Optimizer {
  enum class Kind : std::uint8_t { sgd, adam, adamw };
  Kind kind = Kind::sgd;
  double learning_rate = 0.01;
  // Of sgd; weight decay of all.
  double momentum = 0, weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

struct Training {
  enum class Loss : std::uint8_t { output, cross_entropy, mse };
  Loss loss = Loss::output;
  // An output of the model: the loss itself, scores (batch, classes, ...), or predictions.
  std::string of;
  Optimizer optimizer;
  // Weights that stay as they are.
  std::set<std::string> frozen;
};

// One step, as a program with streams: inputs and "target" come from streams of their names, outputs and "loss" go to such. The state of an
// optimizer are variables "<weight>.momentum", or "<weight>.m", "<weight>.v" and "step", which begin with zeros. Rejects (value) what
// import_model rejects, an output that is not there or has no such loss, names of frozen weights that are none; a loss that follows from no
// weight; (not_implemented) a model with graphs of its own, as If has.
ir::Module import_training(Model model, ImportOptions options, const Training& training);
ir::Module import_training_file(const std::string& path, const ImportOptions& options, const Training& training);

}  // namespace pando::onnx
