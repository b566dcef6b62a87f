#include "base/check.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "transform/expand.h"
#include "transform/ops_list.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

// Where each value is there: behind which op of the list; 0 is before the first.
struct Positions {
  std::unordered_map<ValueId, std::size_t> of;
  std::size_t operator()(ValueId v) const {
    const auto it = of.find(v);
    return it == of.end() ? 0 : it->second;
  }
};

}  // namespace

std::vector<std::pair<ValueId, ValueId>> decompose_sum(Module& m, GraphId graph) {
  std::vector<std::pair<ValueId, ValueId>> replaced;
  const std::vector<OpId> list = m.graph(graph).ops;
  Positions position;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (ValueId v : m.results(list[i])) position.of[v] = i + 1;
  }
  std::vector<std::vector<OpId>> behind(list.size() + 1);
  std::unordered_map<ValueId, ValueId> now;
  std::unordered_map<OpId, std::vector<OpId>> instead;
  const LocationId location = m.current_location();
  std::unordered_set<OpId> ordered;
  for (const auto& edge : m.graph(graph).after) ordered.insert(edge.second);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const OpId o = list[i];
    if (m.row(o).adds != Adds::operands || !m.row(o).operands[0].variadic || m.op(o).operand_count < 2) continue;
    std::vector<ValueId> summands(m.operands(o).begin(), m.operands(o).end());
    // A summand that is a sum itself has been replaced already.
    for (ValueId& v : summands) {
      if (const auto it = now.find(v); it != now.end()) v = it->second;
    }
    std::stable_sort(summands.begin(), summands.end(), [&](ValueId a, ValueId b) { return position(a) < position(b); });
    m.set_current_location(m.op(o).location);
    ValueId sum = summands[0];
    for (std::size_t k = 1; k < summands.size(); ++k) {
      const ValueId operands[] = {sum, summands[k]};
      const OpId add = infer_and_add(m, graph, "add", operands, {}, {}, false, {}, m.name_of(o));
      // What the user ordered behind something stays where it is.
      const std::size_t at = ordered.contains(o) ? i : std::max(position(operands[0]), position(operands[1]));
      behind[at].push_back(add);
      instead[o].push_back(add);
      sum = m.result(add);
      position.of[sum] = at;
    }
    now[m.result(o)] = sum;
    replaced.emplace_back(m.result(o), sum);
    m.op(o).erased = true;
  }
  m.set_current_location(location);
  std::vector<OpId> ops = behind[0];
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!m.op(list[i]).erased) ops.push_back(list[i]);
    ops.insert(ops.end(), behind[i + 1].begin(), behind[i + 1].end());
  }
  m.graph(graph).ops = std::move(ops);
  replace_values(m, graph, now);
  move_order(m, graph, instead);
  return replaced;
}

}  // namespace pando::transform
