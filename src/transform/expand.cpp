#include "transform/expand.h"

#include "base/check.h"
#include "ir/op_row.h"
#include "ir/rows/gradient.h"
#include "ir/semantics/infer.h"
#include "transform/ops_list.h"

namespace pando::transform {

using namespace ir;

namespace {

// Appends what an op means to its graph.
class Writer : public Expansion {
 public:
  Writer(Module& m, OpId op) : m_(m), op_(op), place_(m.type_of(m.result(op, 0)).place) {}

  const Attributes& attributes() const override { return m_.attributes(op_); }
  std::size_t operands() const override { return m_.operands(op_).size(); }
  ValueId operand(std::size_t i) const override { return m_.operand(op_, i); }
  const Type& type_of(ValueId v) const override { return m_.type_of(v); }
  const Type& result_type(std::size_t i) const override { return m_.type_of(m_.result(op_, i)); }
  ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes) override {
    return ops(name, std::span(operands.begin(), operands.size()), attributes)[0];
  }
  std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) override {
    const std::string of = m_.name_of(op_);
    const OpId id = infer_and_add(m_, m_.op(op_).graph, name, operands, attributes, {}, false, place_, of);
    m_.op(id).context = m_.op(op_).context;
    return {m_.results(id).begin(), m_.results(id).end()};
  }
  ValueId scalar(DType dtype, double value) override {
    return op("constant", {}, {{"data", m_.add_blob(HostTensor::filled(dtype, {}, value))}});
  }
  void result(ValueId v) override { results.push_back(v); }

  std::vector<ValueId> results;

 private:
  Module& m_;
  OpId op_;
  Place place_;
};

using Keeps = bool (*)(const OpRow&);

// One round: expansions may have ops that expand in turn.
std::size_t expand_once(Module& m, GraphId graph, Keeps keeps) {
  const auto expands = [&](OpId o) { return m.row(o).expand && !(keeps && keeps(m.row(o))); };
  const std::vector<OpId> list = m.graph(graph).ops;
  if (std::none_of(list.begin(), list.end(), expands)) return 0;
  std::unordered_map<ValueId, ValueId> now;
  std::unordered_map<OpId, std::vector<OpId>> instead;
  m.graph(graph).ops.clear();
  for (OpId o : list) {
    for (std::uint32_t i = 0; i < m.op(o).operand_count; ++i) {
      if (const auto it = now.find(m.operand(o, i)); it != now.end()) m.set_operand(o, i, it->second);
    }
    if (!expands(o)) {
      m.graph(graph).ops.push_back(o);
      continue;
    }
    const LocationId location = m.current_location();
    m.set_current_location(m.op(o).location);
    const std::size_t first = m.graph(graph).ops.size();
    Writer writer(m, o);
    m.row(o).expand(writer);
    m.set_current_location(location);
    PANDO_CHECK(writer.results.size() == m.results(o).size());
    for (std::size_t i = 0; i < writer.results.size(); ++i) now[m.result(o, i)] = writer.results[i];
    const auto& ops = m.graph(graph).ops;
    instead[o].assign(ops.begin() + static_cast<std::ptrdiff_t>(first), ops.end());
    m.op(o).erased = true;
  }
  Graph& g = m.graph(graph);
  for (std::vector<ValueId>* values : {&g.outputs, &g.updated_inputs}) {
    for (ValueId& v : *values) {
      if (const auto it = now.find(v); it != now.end()) v = it->second;
    }
  }
  move_order(m, graph, instead);
  return instead.size();
}

}  // namespace

std::size_t expand(Module& m, Keeps keeps) {
  std::size_t count = 0;
  for (std::size_t g = 0; g < m.graph_count(); ++g) {
    while (const std::size_t n = expand_once(m, GraphId(static_cast<GraphId::rep>(g)), keeps)) count += n;
  }
  return count;
}

}  // namespace pando::transform
