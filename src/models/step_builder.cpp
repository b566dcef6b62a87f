#include "models/step_builder.h"

#include "ir/semantics/infer.h"
#include "transform/distribute/flatten.h"
#include "transform/gradient/autodiff.h"

namespace pando::models {

ir::ValueId StepBuilder::input(std::string_view name, ir::DType dtype, ir::Shape shape, std::int32_t batch_dim, std::int32_t sequence_dim,
                               std::int32_t expert_dim) {
  ir::Module& m = module();
  const ir::Type type = ir::tensor_type(dtype, std::move(shape));
  const ir::ValueId v = m.add_input(main(), type, name);
  ir::State s;
  s.name = m.name_of(v);
  s.type = m.type(type);
  s.input = m.value(v).index;
  m.add_state(std::move(s));
  program_.batch_dim.push_back(batch_dim);
  program_.sequence_dim.push_back(sequence_dim);
  program_.expert_dim.push_back(expert_dim);
  return v;
}

std::vector<ir::ValueId> StepBuilder::ops(std::string_view op, std::span<const ir::ValueId> operands, const ir::Attributes& attributes,
                                          std::string_view name) {
  ir::Module& m = module();
  const ir::OpId o = ir::infer_and_add(m, main(), op, operands, attributes, {}, false, {}, name);
  program_.phase.resize(m.op_count(), phase);
  program_.layer.resize(m.op_count(), layer);
  return {m.results(o).begin(), m.results(o).end()};
}

ir::ValueId StepBuilder::constant(ir::HostTensor data, std::string_view name) {
  const ir::BlobId blob = module().add_blob(std::move(data));
  return ops("constant", {}, {{"data", blob}}, name)[0];
}

void StepBuilder::update(ir::ValueId input, ir::ValueId to) { module().graph(main()).updated_inputs[module().value(input).index] = to; }

std::vector<ir::ValueId> StepBuilder::gradients(ir::ValueId loss, const std::vector<ir::ValueId>& of) {
  transform::AutodiffOptions options;
  options.provided = std::vector{loss};
  options.required = of;
  builder_.add_output(main(), builder_.tensor_for(loss));
  const transform::GradientInfo info = transform::autodiff(builder_, main(), options);
  phase = transform::Phase::backward;
  program_.phase.resize(module().op_count(), phase);
  program_.layer.resize(module().op_count(), layer);
  std::vector<ir::ValueId> operands;
  for (const transform::Connection& c : info.inputs) {
    operands.push_back(c.kind == transform::ConnectionKind::fwd_grad ? scalar(module().type_of(loss).dtype, 1) : c.value);
  }
  const ir::OpId call = ir::infer_and_add(module(), main(), "call", operands, {}, {{info.gradient}});
  program_.phase.resize(module().op_count(), phase);
  program_.layer.resize(module().op_count(), layer);
  return {module().results(call).begin(), module().results(call).end()};
}

transform::Program StepBuilder::finish() {
  module().graph(main()).outputs = outputs_;
  program_.module = std::move(module());
  return transform::flatten(program_);
}

}  // namespace pando::models
