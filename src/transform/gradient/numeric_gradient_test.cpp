#include "transform/gradient/numeric_gradient.h"

#include "ir/semantics/samples.h"
#include "transform/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pando::transform::testing {

using namespace ir;

namespace {

std::size_t index_of(const std::vector<ValueId>& list, ValueId v) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), v) - list.begin());
}

double weighted(const std::vector<HostTensor>& outputs, const std::vector<std::pair<std::size_t, HostTensor>>& weights) {
  double sum = 0;
  for (const auto& [o, w] : weights) {
    for (std::int64_t i = 0; i < w.elements(); ++i) sum += w.number(i) * outputs[o].number(i);
  }
  return sum;
}

}  // namespace

HostTensor sample_data(const Sample::Operand& operand, DType dtype, std::uint64_t seed) {
  Sample sample;
  sample.operands = {operand};
  sample.operands[0].dtype = dtype;
  return ir::sample_data(sample, seed)[0];
}

std::vector<HostTensor> inputs_for(const Module& m, GraphId g) {
  std::vector<HostTensor> all;
  for (ValueId v : m.graph(g).inputs) {
    const Type& t = m.type_of(v);
    all.push_back(sample_data({t.dtype, t.shape, is_floating(t.dtype) ? -1.0 : 0.0, 1, {}}, t.dtype, 100 + all.size()));
  }
  return all;
}

std::string message_of(const std::function<void()>& f, ErrorClass kind) {
  try {
    f();
  } catch (const ModelError& e) {
    EXPECT_EQ(e.kind(), kind);
    return e.what();
  }
  return "no error";
}

std::vector<HostTensor> run(const Module& module, GraphId graph, const std::vector<HostTensor>& inputs) {
  std::vector<HostValue> values;
  for (const HostTensor& t : inputs) values.push_back({t, {}});
  std::vector<HostTensor> outputs;
  for (HostValue& v : Interpreter(module).run_graph(graph, std::move(values))) outputs.push_back(std::move(v.tensor));
  outputs.resize(module.graph(graph).outputs.size());
  return outputs;
}

std::string wrong_gradients(const Module& module, const GradientInfo& info, const std::vector<HostTensor>& inputs,
                            const Tolerance& tolerance) {
  const Graph& forward = module.graph(info.forward);
  const std::vector<HostTensor> outputs = run(module, info.forward, inputs);
  std::vector<HostTensor> operands;
  std::vector<std::pair<std::size_t, HostTensor>> weights;
  for (const Connection& c : info.inputs) {
    const std::size_t input = index_of(forward.inputs, c.value), output = index_of(forward.outputs, c.value);
    if (c.kind == ConnectionKind::fwd) {
      operands.push_back(input < inputs.size() ? inputs[input] : outputs[output]);
      continue;
    }
    const Type& t = module.type_of(c.value);
    operands.push_back(sample_data({t.dtype, t.shape, -1, 1, {}}, t.dtype, 77 + weights.size()));
    weights.emplace_back(output, operands.back());
  }
  const std::vector<HostTensor> gradients = run(module, info.gradient, operands);
  std::string wrong;
  for (std::size_t g = 0; g < gradients.size(); ++g) {
    const std::size_t input = index_of(forward.inputs, info.outputs[g].value);
    for (std::int64_t i = 0; i < inputs[input].elements(); ++i) {
      std::vector<HostTensor> moved = inputs;
      const double x = inputs[input].number(i), step = tolerance.step * std::max(1.0, std::abs(x));
      moved[input].set(i, x + step);
      const double above = moved[input].number(i), high = weighted(run(module, info.forward, moved), weights);
      moved[input].set(i, x - step);
      const double below = moved[input].number(i), low = weighted(run(module, info.forward, moved), weights);
      const double expected = (high - low) / (above - below), found = gradients[g].number(i);
      if (std::abs(found - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected)) continue;
      wrong +=
          fmt::format("\n  gradient of '{}', element {}: found {}, expected {}", module.name_of(info.outputs[g].value), i, found, expected);
    }
  }
  return wrong;
}

}  // namespace pando::transform::testing
