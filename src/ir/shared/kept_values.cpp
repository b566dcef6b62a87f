#include "ir/shared/kept_values.h"

#include "ir/op_row.h"

#include <algorithm>
#include <unordered_map>

namespace pando::ir {

namespace {

ValueId older_version(const Module& m, ValueId v);

// Of several bases one behind the other: the one whose piece is taken.
ValueId base_at(const Module& m, OpId view, OpId put) {
  if (m.row(view).view != View::of_all_operands) return m.operand(view, 0);
  if (m.row(put).view_form != ViewForm::box) return {};  // another view of all of them
  const auto axis = static_cast<std::size_t>(m.attributes(view).integer("axis"));
  std::int64_t start = 0;
  for (ValueId base : m.operands(view)) {
    if (start == m.attributes(put).ints("start")[0]) return base;
    start += m.type_of(base).shape[axis];
  }
  return {};
}

// What modifies a view modifies its base: the builder adds an op that makes the base of the view's new version. This finds the base before.
ValueId base_before(const Module& m, OpId put) {
  const ValueId piece = m.operand(put, 0);
  ValueId first = piece;
  for (ValueId older = older_version(m, first); older.valid(); older = older_version(m, first)) first = older;
  const OpId view = m.value(first).producer;
  if (first == piece || !view.valid() || m.row(view).view == View::none || !(m.op(view).in_place || m.op(view).implicit)) return {};
  const ValueId base = base_at(m, view, put);
  return base.valid() && m.type_of(base).shape == m.type_of(m.result(put)).shape ? base : ValueId();
}

// What a value is a new version of; none for what is made anew.
ValueId older_version(const Module& m, ValueId v) {
  const OpId producer = m.value(v).producer;
  if (!producer.valid()) return {};
  const std::uint32_t result = m.value(v).index;
  for (const NewVersion& n : new_versions(m, producer)) {
    if (n.result == result) return m.operand(producer, n.operand);
  }
  const OpRow& row = m.row(producer);
  // An alias of the whole, taken by the user or again by the builder.
  if ((m.op(producer).in_place || m.op(producer).implicit) && row.view_form == ViewForm::whole) return m.operand(producer, 0);
  if (!m.op(producer).implicit) return {};
  if (row.replaces_part) return m.operand(producer, 0);
  return row.view == View::none ? ValueId() : base_before(m, producer);
}

bool has_several_programs(const Module& m, const Graph& main) {
  return std::any_of(main.ops.begin(), main.ops.end(), [&](OpId o) { return m.op(o).context != m.op(main.ops[0]).context; });
}

}  // namespace

bool runs_in(const Module& m, OpId op, Context context) {
  return m.op(op).graph != m.main_graph() || m.op(op).context == context || m.row(op).constant;
}

ValueId version_in(const Module& m, ValueId v, Context context) {
  for (;;) {
    const OpId producer = m.value(v).producer;
    if (!producer.valid() || runs_in(m, producer, context)) return v;
    const ValueId older = older_version(m, v);
    if (!older.valid()) return v;
    v = older;
  }
}

std::vector<KeptValue> kept_values(const Module& m) {
  const Graph& main = m.graph(m.main_graph());
  std::vector<KeptValue> kept;
  if (main.ops.empty() || !has_several_programs(m, main)) return kept;
  std::unordered_map<std::uint32_t, std::size_t> versions;  // of each version of a kept value: which
  for (OpId o : main.ops) {
    for (ValueId v : m.operands(o)) {
      const ValueId made = version_in(m, v, m.op(o).context);
      const OpId producer = m.value(made).producer;
      if (!producer.valid() || runs_in(m, producer, m.op(o).context) || versions.contains(made.value)) continue;
      versions.emplace(made.value, kept.size());
      kept.push_back({made, made});
    }
  }
  if (kept.empty()) return kept;
  for (OpId o : main.ops) {
    for (ValueId v : m.results(o)) {
      const ValueId older = older_version(m, v);
      const auto of = older.valid() ? versions.find(older.value) : versions.end();
      if (of == versions.end()) continue;
      const std::size_t which = of->second;
      kept[which].last = v;
      versions.emplace(v.value, which);
    }
  }
  return kept;
}

}  // namespace pando::ir
