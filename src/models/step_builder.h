// Writes the main graph of a step of training, noting what belongs to which phase and layer.
#pragma once

#include "ir/infer.h"
#include "transform/distribute/program.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace pando::models {

class StepBuilder {
 public:
  StepBuilder() : main_(program.module.add_graph("main")) {}

  transform::Program program;
  transform::Phase phase = transform::Phase::forward;
  std::uint32_t layer = 0;

  ir::GraphId main() const { return main_; }
  // A variable without data.
  ir::ValueId input(std::string_view name, ir::DType dtype, ir::Shape shape, std::int32_t batch_dim = -1, std::int32_t sequence_dim = -1, std::int32_t expert_dim = -1);
  std::vector<ir::ValueId> ops(std::string_view op, std::span<const ir::ValueId> operands, const ir::Attributes& attributes = {}, std::string_view name = {});
  ir::ValueId op(std::string_view op, std::initializer_list<ir::ValueId> operands, const ir::Attributes& attributes = {}, std::string_view name = {}) {
    return ops(op, {operands.begin(), operands.size()}, attributes, name)[0];
  }
  ir::ValueId scalar(ir::DType dtype, double value);
  void output(ir::ValueId v) { program.module.add_output(main_, v); }
  // What an input becomes.
  void update(ir::ValueId input, ir::ValueId to);
  const ir::Shape& shape(ir::ValueId v) const { return program.module.type_of(v).shape; }

 private:
  ir::GraphId main_;
};

}  // namespace pando::models
