#include "lower/parts/fusion.h"

#include "base/check.h"
#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"

namespace pando::lower {

using ir::GraphId;
using ir::OpId;
using ir::ValueId;

void Fusion::lower_ops(GraphId graph) {
  GraphPlan outer = std::move(plan_);
  std::vector<ValueId> guarded = parts_.storages.set_guarded({});
  const std::size_t at = at_;
  plan_ = parts_.analysis.plan(graph, parts_.cursor.context());
  for (at_ = 0; at_ < plan_.ops.size(); ++at_) lower_op(plan_.ops[at_]);
  at_ = at;
  parts_.storages.set_guarded(std::move(guarded));
  plan_ = std::move(outer);
}

void Fusion::lower_op(OpId op) {
  const ir::OpRow& kind = parts_.module.row(op);
  if (kind.constant || plan_.fused_into.contains(op.value)) return;
  const Row* row = find_row(kind.name);
  PANDO_CHECK(row != nullptr);
  const SourceScope scope = parts_.places.source_scope(parts_.module.op(op).location);
  if (is_elementwise(row)) {
    lower_elementwise(op);
  } else if (waits_for_epilogue(op)) {
    waiting_ = op;
  } else {
    lower_plainly(op);
  }
  parts_.storages.end_op();
}

void Fusion::lower_plainly(OpId op) {
  parts_.storages.begin_op(op);
  OpLowering lowering(parts_, op);
  const Row& row = *find_row(parts_.module.row(op).name);
  row.lower(lowering);
  for (ValueId v : parts_.module.results(op)) {
    PANDO_CHECK(parts_.storages.has_slot(v));
    PANDO_CHECK(!row.makes_tensor || parts_.storages.is_alone(v));
  }
  if (parts_.decisions) parts_.telling.op(op);
}

}  // namespace pando::lower
