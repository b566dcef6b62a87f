#include "split/one_op_per_device.h"

#include "ir/op_row.h"

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pando::split {

using namespace ir;

namespace {

using Copies = std::unordered_map<std::uint32_t, std::map<std::int32_t, OpId>>;

std::int32_t device_of(const Module& m, OpId o) {
  for (const auto values : {m.results(o), m.operands(o)}) {
    for (ValueId v : values) {
      if (m.type_of(v).is_tensor()) return m.type_of(v).place.device.value;
    }
  }
  return 0;
}

// The user's order of ops that have become several is one on each device that both ends are on.
void order_copies(Module& m, const Copies& copies) {
  std::vector<std::pair<OpId, OpId>> after;
  const auto on_devices = [&](OpId o) {
    const auto it = copies.find(o.value);
    return it == copies.end() ? std::map<std::int32_t, OpId>{{device_of(m, o), o}} : it->second;
  };
  for (const auto& [first, then] : m.graph(m.main_graph()).after) {
    const auto a = on_devices(first), b = on_devices(then);
    const std::size_t before = after.size();
    for (const auto& [device, op] : a) {
      if (const auto it = b.find(device); it != b.end()) after.emplace_back(op, it->second);
    }
    if (after.size() == before) after.emplace_back(a.begin()->second, b.begin()->second);
  }
  m.graph(m.main_graph()).after = std::move(after);
}

}  // namespace

void one_op_per_device(Module& m) {
  const GraphId main = m.main_graph();
  Copies copies;
  std::unordered_map<std::uint32_t, ValueId> instead;
  const auto now = [&](ValueId v) {
    const auto it = instead.find(v.value);
    return it == instead.end() ? v : it->second;
  };
  std::vector<OpId> order;
  const std::vector<OpId> ops = m.graph(main).ops;
  for (OpId o : ops) {
    for (std::uint32_t i = 0; i < m.op(o).operand_count; ++i) m.set_operand(o, i, now(m.operand(o, i)));
    std::set<std::int32_t> devices;
    for (ValueId v : m.results(o)) {
      const Type& t = m.type_of(v);
      if (t.is_tensor() && t.place.device.known() && !t.place.device.is_variable()) devices.insert(t.place.device.value);
    }
    if (devices.size() < 2 || !m.row(o).moves || m.op(o).graph_count != 0) {
      order.push_back(o);
      continue;
    }
    for (std::int32_t d : devices) {
      const std::vector<ValueId> operands(m.operands(o).begin(), m.operands(o).end()), results(m.results(o).begin(), m.results(o).end());
      std::vector<TypeId> types;
      for (ValueId v : results) {
        Type t = m.type_of(v);
        t.place.device = Device::numbered(d);
        types.push_back(m.type(t));
      }
      const OpId copy = m.add_op(main, m.op(o).kind, operands, Attributes(m.attributes(o)), {}, types, m.name_of(results[0]));
      m.op(copy).location = m.op(o).location;
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (m.type_of(results[i]).place.device.value != d) continue;
        instead[results[i].value] = m.result(copy, i);
        m.set_name(m.result(copy, i), m.value(results[i]).name);
      }
      order.push_back(copy);
      copies[o.value][d] = copy;
    }
  }
  if (!copies.empty()) order_copies(m, copies);
  Graph& g = m.graph(main);
  g.ops = std::move(order);
  for (ValueId& v : g.outputs) v = now(v);
  for (ValueId& v : g.updated_inputs) v = now(v);
}

}  // namespace pando::split
