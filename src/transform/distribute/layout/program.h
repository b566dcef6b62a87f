// A step of training or inference as transforms to many devices see it: a module with one flat main graph, and what its parts are.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pando::transform {

enum class Phase : std::uint8_t { forward, backward, update };

struct Program {
  ir::Module module;
  // By op. Ops beyond the end are forward ops of layer 0.
  std::vector<Phase> phase;
  // By op, of forward ops: which layer it belongs to, ascending in the order of ops. Stages of a pipeline are whole layers.
  std::vector<std::uint32_t> layer;
  // By op: it runs once, on all samples, ahead of the first microbatch, whatever it takes; of a load from a stream, for every microbatch.
  std::vector<bool> ahead;
  // By input of the main graph: which dimension counts samples; -1: none, it is a parameter, a state of the optimizer, a constant.
  std::vector<std::int32_t> batch_dim;
  // By input: which dimension counts positions of a sequence; -1: none.
  std::vector<std::int32_t> sequence_dim;
  // By stream to the device: which dimension counts samples; -1: none, every device gets all of it.
  std::vector<std::int32_t> stream_batch_dim;
  // By input, of weights: which dimension counts experts; -1: none.
  std::vector<std::int32_t> expert_dim;

  Phase phase_of(ir::OpId o) const { return o.index() < phase.size() ? phase[o.index()] : Phase::forward; }
  bool is_ahead(ir::OpId o) const { return o.index() < ahead.size() && ahead[o.index()]; }
  std::uint32_t layer_of(ir::OpId o) const { return o.index() < layer.size() ? layer[o.index()] : 0; }
  // What the lists say of an input; -1 beyond their end.
  static std::int32_t dim_of(const std::vector<std::int32_t>& list, std::size_t input) { return input < list.size() ? list[input] : -1; }
  bool is_batch(std::size_t input) const { return input < batch_dim.size() && batch_dim[input] >= 0; }
};

}  // namespace pando::transform
