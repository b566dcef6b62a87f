#include "models/optimizer.h"

namespace pando::models {

namespace {

using ir::ValueId;

// Kingma and Ba: moments with their bias taken out.
void adam(StepBuilder& b, const Optimizer& o, const std::vector<ValueId>& weights, const std::vector<ValueId>& gradients,
          const std::vector<ir::Type>& types, const std::vector<std::string>& names) {
  const ir::DType dtype = types[0].dtype;
  const ValueId step = b.input("step", dtype, {});
  std::vector<ValueId> m, v;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    m.push_back(b.input(names[i] + ".m", dtype, types[i].shape));
    v.push_back(b.input(names[i] + ".v", dtype, types[i].shape));
  }
  const auto c = [&](double x) { return b.scalar(dtype, x); };
  const ValueId one = c(1), beta1 = c(o.beta1), beta2 = c(o.beta2), rest1 = c(1 - o.beta1), rest2 = c(1 - o.beta2), epsilon = c(o.epsilon);
  const ValueId next = b.op("add", {step, one}, {}, "step");
  b.update(step, next);
  const ValueId rate = b.op("div", {c(o.learning_rate), b.op("sub", {one, b.op("pow", {beta1, next})})}, {}, "rate");
  const ValueId bias2 = b.op("sub", {one, b.op("pow", {beta2, next})});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const ValueId g = gradients[i];
    const ValueId m1 = b.op("add", {b.op("mul", {m[i], beta1}), b.op("mul", {g, rest1})}, {}, names[i] + ".m");
    const ValueId v1 = b.op("add", {b.op("mul", {v[i], beta2}), b.op("mul", {b.op("square", {g}), rest2})}, {}, names[i] + ".v");
    const ValueId size = b.op("add", {b.op("sqrt", {b.op("div", {v1, bias2})}), epsilon});
    const ValueId change = b.op("mul", {b.op("div", {m1, size}), rate});
    b.update(weights[i], b.op("sub", {weights[i], change}, {}, names[i]));
    b.update(m[i], m1);
    b.update(v[i], v1);
  }
}

}  // namespace

void add_updates(StepBuilder& b, const Optimizer& o, const std::vector<ValueId>& weights, const std::vector<ValueId>& gradients,
                 const std::vector<std::string>& names) {
  b.phase = transform::Phase::update;
  if (o.kind == Optimizer::adam) {
    std::vector<ir::Type> types;
    for (ValueId w : weights) types.push_back(b.type(w));
    adam(b, o, weights, gradients, types, names);
    return;
  }
  std::vector<ValueId> operands = weights;
  operands.insert(operands.end(), gradients.begin(), gradients.end());
  const std::vector<ValueId> updated = b.ops("sgd", operands, {{"lr", o.learning_rate}}, "w");
  for (std::size_t i = 0; i < weights.size(); ++i) b.update(weights[i], updated[i]);
}

}  // namespace pando::models
