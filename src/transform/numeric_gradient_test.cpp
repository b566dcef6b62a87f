#include "transform/numeric_gradient.h"

#include <algorithm>
#include <cmath>

namespace pando::transform::testing {

using namespace ir;

namespace {

// splitmix64.
struct Random {
  std::uint64_t state;
  double uniform() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
};

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
  if (!operand.values.empty()) return HostTensor::of_floats(dtype, operand.shape, operand.values);
  Random random{seed};
  HostTensor t(dtype, operand.shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    const double v = operand.low + (operand.high - operand.low) * random.uniform();
    if (is_floating(dtype)) {
      t.set(i, v);
    } else if (dtype == DType::boolean) {
      t.set_integer(i, random.uniform() < 0.5);
    } else {
      t.set_integer(i, static_cast<std::int64_t>(std::floor(v)));
    }
  }
  return t;
}

std::vector<HostTensor> run(const Module& module, GraphId graph, const std::vector<HostTensor>& inputs) {
  std::vector<HostValue> values;
  for (const HostTensor& t : inputs) values.push_back({t, {}});
  std::vector<HostTensor> outputs;
  for (HostValue& v : Interpreter(module).run_graph(graph, std::move(values))) outputs.push_back(std::move(v.tensor));
  outputs.resize(module.graph(graph).outputs.size());
  return outputs;
}

std::string wrong_gradients(const Module& module, const GradientInfo& info, const std::vector<HostTensor>& inputs, const Tolerance& tolerance) {
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
      wrong += fmt::format("\n  gradient of '{}', element {}: found {}, expected {}", module.name_of(info.outputs[g].value), i, found, expected);
    }
  }
  return wrong;
}

}  // namespace pando::transform::testing
