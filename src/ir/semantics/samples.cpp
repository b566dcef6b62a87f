#include "ir/semantics/samples.h"

#include "ir/random.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/interpreter.h"

#include <cmath>

namespace pando::ir {

std::vector<HostTensor> sample_data(const Sample& sample, std::uint64_t seed) {
  std::vector<HostTensor> data;
  for (std::size_t o = 0; o < sample.operands.size(); ++o) {
    const Sample::Operand& rule = sample.operands[o];
    HostTensor t(rule.dtype, rule.shape);
    const RandomKey key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}, static_cast<std::uint32_t>(o)};
    for (std::int64_t i = 0; i < t.elements(); ++i) {
      double v = rule.low + (rule.high - rule.low) * random_fraction(key, static_cast<std::uint64_t>(i));
      if (!rule.values.empty()) v = rule.values[static_cast<std::size_t>(i) % rule.values.size()];
      if (rule.dtype == DType::boolean) v = v > 0;
      t.set(i, is_integer(rule.dtype) ? std::floor(v) : v);
    }
    data.push_back(std::move(t));
  }
  return data;
}

std::vector<HostTensor> evaluate(const OpRow& row, const std::vector<HostTensor>& operands, const Attributes& attributes, bool in_place) {
  Module module;
  const GraphId graph = module.add_graph("main");
  std::vector<ValueId> values;
  std::vector<HostValue> data;
  for (const HostTensor& t : operands) {
    values.push_back(module.add_input(graph, tensor_type(t.dtype(), t.shape()), "t"));
    data.push_back({t, {}});
  }
  const OpId op = infer_and_add(module, graph, row.name, values, attributes, {}, in_place);
  for (ValueId v : std::vector<ValueId>(module.results(op).begin(), module.results(op).end())) module.add_output(graph, v);
  const std::vector<HostValue> results = Interpreter(module).run_graph(graph, std::move(data));
  std::vector<HostTensor> out;
  for (std::size_t i = 0; i < module.results(op).size(); ++i) out.push_back(results[i].tensor);
  return out;
}

}  // namespace pando::ir
