// Writes the main graph of a step of training, noting what belongs to which phase and layer.
#pragma once

#include "ir/construction/builder.h"
#include "transform/distribute/layout/program.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace pando::models {

class StepBuilder {
 public:
  transform::Phase phase = transform::Phase::forward;
  std::uint32_t layer = 0;

  // A variable without data.
  ir::ValueId input(std::string_view name, ir::DType dtype, ir::Shape shape, std::int32_t batch_dim = -1, std::int32_t sequence_dim = -1,
                    std::int32_t expert_dim = -1);
  std::vector<ir::ValueId> ops(std::string_view op, std::span<const ir::ValueId> operands, const ir::Attributes& attributes = {},
                               std::string_view name = {});
  ir::ValueId op(std::string_view op, std::initializer_list<ir::ValueId> operands, const ir::Attributes& attributes = {},
                 std::string_view name = {}) {
    return ops(op, {operands.begin(), operands.size()}, attributes, name)[0];
  }
  ir::ValueId constant(ir::HostTensor data, std::string_view name = "c");
  ir::ValueId scalar(ir::DType dtype, double value) { return constant(ir::HostTensor::filled(dtype, {}, value)); }
  ir::ValueId reshape(ir::ValueId v, ir::Shape shape) { return op("reshape", {v}, {{"shape", ir::Ints(std::move(shape))}}); }
  ir::ValueId transpose(ir::ValueId v, ir::Ints order) { return op("transpose", {v}, {{"permutation", std::move(order)}}); }
  const ir::Type& type(ir::ValueId v) const { return module().type_of(v); }
  const ir::Shape& shape(ir::ValueId v) const { return type(v).shape; }

  void output(ir::ValueId v) { outputs_.push_back(v); }
  // What an input becomes.
  void update(ir::ValueId input, ir::ValueId to);
  // The gradients of a scalar, by autodiff, as ops of the backward phase.
  std::vector<ir::ValueId> gradients(ir::ValueId loss, const std::vector<ir::ValueId>& of);

  // The program; flat.
  transform::Program finish();

 private:
  ir::Module& module() { return builder_.module(); }
  const ir::Module& module() const { return builder_.module(); }
  ir::GraphId main() const { return builder_.module().main_graph(); }

  ir::Builder builder_;
  transform::Program program_;  // without its module
  std::vector<ir::ValueId> outputs_;
};

}  // namespace pando::models
