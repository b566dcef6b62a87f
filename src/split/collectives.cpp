#include "split/collectives.h"

#include "ir/op_row.h"
#include "ir/op_table.h"
#include "ir/shared/reduction_kind.h"

#include <set>
#include <unordered_map>

namespace pando::split {

using namespace ir;

namespace {

ValueId add(Module& m, GraphId graph, std::string_view op, std::span<const ValueId> operands, const Attributes& a, const Type& t,
            const std::string& name) {
  const TypeId type = m.type(t);
  return m.result(m.add_op(graph, op_kind(op), operands, a, {}, {&type, 1}, name));
}

ValueId reshaped(Module& m, GraphId graph, ValueId v, const Shape& shape, const std::string& name) {
  Type t = m.type_of(v);
  if (t.shape == shape) return v;
  t.shape = shape;
  return add(m, graph, "reshape", {{v}}, {{"shape", Ints(shape)}}, t, name);
}

ValueId sliced(Module& m, GraphId graph, ValueId v, std::int64_t begin, std::int64_t end, const std::string& name) {
  Type t = m.type_of(v);
  t.shape = {end - begin};
  return add(m, graph, "slice", {{v}}, {{"start", Ints{begin}}, {"stop", Ints{end}}, {"step", Ints{1}}, {"axis", Ints{0}}}, t, name);
}

std::int32_t numbered_device(const Module& m, ValueId v) {
  const Type& t = m.type_of(v);
  return t.is_tensor() && t.place.device.known() && !t.place.device.is_variable() ? t.place.device.value : -1;
}

// Every operand and its result on a device that no other pair has.
bool is_one_for_each_device(const Module& m, OpId o) {
  std::set<std::int32_t> devices;
  if (m.op(o).operand_count != m.op(o).result_count) return false;
  for (std::uint32_t i = 0; i < m.op(o).operand_count; ++i) {
    const std::int32_t d = numbered_device(m, m.operand(o, i));
    if (d < 0 || d != numbered_device(m, m.result(o, i)) || !devices.insert(d).second) return false;
  }
  return true;
}

}  // namespace

bool is_in_parts(const Module& m, TypeId type, std::size_t operands, std::int64_t least_bytes) {
  return operands > 2 && static_cast<std::int64_t>(m.types().bytes_of(type)) >= least_bytes &&
         elements_of(m.type(type).shape) >= static_cast<std::int64_t>(operands);
}

ValueId reduce_at(Module& m, GraphId graph, std::span<const ValueId> operands, const std::string& op, const Place& place,
                  const std::string& name) {
  Type t = m.type_of(operands[0]);
  t.place = place;
  const std::vector<TypeId> types(operands.size(), m.type(t));
  std::size_t own = 0;  // the result where the device's operand is, if it has one
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (m.type_of(operands[i]).place.device == place.device) own = i;
  return m.result(m.add_op(graph, op_kind("all_reduce"), operands, {{"op", op}}, {}, types, name), own);
}

std::vector<ValueId> all_reduce_in_parts(Module& m, GraphId graph, std::span<const ValueId> operands, const std::string& op,
                                         const std::string& name) {
  const std::size_t n = operands.size();
  const Shape shape = m.type_of(operands[0]).shape;
  const std::int64_t all = elements_of(shape);
  const auto begin = [&](std::size_t part) { return all * static_cast<std::int64_t>(part) / static_cast<std::int64_t>(n); };
  std::vector<std::vector<ValueId>> parts(n);  // [part][operand]
  for (const ValueId v : operands) {
    const ValueId flat = reshaped(m, graph, v, {all}, name);
    for (std::size_t j = 0; j < n; ++j) parts[j].push_back(sliced(m, graph, flat, begin(j), begin(j + 1), name));
  }
  std::vector<ValueId> sums;
  for (std::size_t j = 0; j < n; ++j) sums.push_back(reduce_at(m, graph, parts[j], op, m.type_of(operands[j]).place, name));
  std::vector<ValueId> results;
  for (const ValueId v : operands) {
    Type t = m.type_of(v);
    t.shape = {all};
    results.push_back(reshaped(m, graph, add(m, graph, "concat", sums, {{"axis", std::int64_t{0}}}, t, name), shape, name));
  }
  return results;
}

void share_reductions(Module& m, std::int64_t least_bytes) {
  const GraphId main = m.main_graph();
  std::set<OpId> ordered;  // by the user
  for (const auto& [first, then] : m.graph(main).after) ordered.insert({first, then});
  std::unordered_map<std::uint32_t, ValueId> instead;
  const auto now = [&](ValueId v) {
    const auto it = instead.find(v.value);
    return it == instead.end() ? v : it->second;
  };
  const std::vector<OpId> ops = std::exchange(m.graph(main).ops, {});
  for (const OpId o : ops) {
    for (std::uint32_t i = 0; i < m.op(o).operand_count; ++i) m.set_operand(o, i, now(m.operand(o, i)));
    const std::vector<ValueId> operands(m.operands(o).begin(), m.operands(o).end()), results(m.results(o).begin(), m.results(o).end());
    if (m.row(o).reference != reduce_all || ordered.contains(o) || m.op(o).context != Context::normal || !is_one_for_each_device(m, o) ||
        !is_in_parts(m, m.value(operands[0]).type, operands.size(), least_bytes)) {
      m.graph(main).ops.push_back(o);
      continue;
    }
    m.set_current_location(m.op(o).location);
    const std::vector<ValueId> sums = all_reduce_in_parts(m, main, operands, m.attributes(o).text("op"), m.name_of(results[0]));
    for (std::size_t i = 0; i < sums.size(); ++i) instead[results[i].value] = sums[i];
  }
  m.set_current_location(LocationId());
  for (ValueId& v : m.graph(main).outputs) v = now(v);
  for (ValueId& v : m.graph(main).updated_inputs) v = now(v);
}

}  // namespace pando::split
