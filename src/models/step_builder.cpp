#include "models/step_builder.h"

namespace pando::models {

ir::ValueId StepBuilder::input(std::string_view name, ir::DType dtype, ir::Shape shape, std::int32_t batch_dim, std::int32_t sequence_dim, std::int32_t expert_dim) {
  ir::Module& m = program.module;
  const ir::Type type = ir::tensor_type(dtype, std::move(shape));
  const ir::ValueId v = m.add_input(main_, type, name);
  ir::State s;
  s.name = m.name_of(v);
  s.type = m.type(type);
  s.input = m.value(v).index;
  m.add_state(std::move(s));
  program.batch_dim.push_back(batch_dim);
  program.sequence_dim.push_back(sequence_dim);
  program.expert_dim.push_back(expert_dim);
  return v;
}

std::vector<ir::ValueId> StepBuilder::ops(std::string_view op, std::span<const ir::ValueId> operands, const ir::Attributes& attributes, std::string_view name) {
  ir::Module& m = program.module;
  const ir::OpId o = ir::infer_and_add(m, main_, op, operands, attributes, {}, false, {}, name);
  program.phase.resize(m.op_count(), phase);
  program.layer.resize(m.op_count(), layer);
  return {m.results(o).begin(), m.results(o).end()};
}

ir::ValueId StepBuilder::scalar(ir::DType dtype, double value) {
  const ir::BlobId data = program.module.add_blob(ir::HostTensor::filled(dtype, {}, value));
  return ops("constant", {}, {{"data", data}})[0];
}

void StepBuilder::update(ir::ValueId input, ir::ValueId to) {
  ir::Module& m = program.module;
  m.graph(main_).finals[m.value(input).index] = to;
}

}  // namespace pando::models
