// Products and convolutions with the element-wise ops that read their results: they wait for these, and all are computed part by part.
#include "lower/lowering.h"
#include "lower/terms/element_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::lower {

using ir::DType;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Ops that come before one that waits.
constexpr std::size_t kMostBetween = 8;

}  // namespace

// Whether an element-wise op, or one that is fused into it, reads the value in its own shape.
bool Lowering::reads_in_whole(OpId reader, ValueId v) const {
  const auto operands = module_.operands(reader);
  return std::any_of(operands.begin(), operands.end(), [&](ValueId w) {
    if (w == v) return true;
    const OpId producer = module_.value(w).producer;
    if (!producer.valid()) return false;
    const auto fused = plan_.fused_into.find(producer.value);
    return fused != plan_.fused_into.end() && fused->second == reader && reads_in_whole(producer, v);
  });
}

// Whether an op may be done before one that waits with the result `v`: it leaves everything as it is but for results of its own.
bool Lowering::may_come_first(OpId op, ValueId v) const {
  const ir::OpRow& row = module_.row(op);
  if (!module_.graphs(op).empty() || row.effects != ir::Effects::none || row.moves || !ir::new_versions(module_, op).empty()) return false;
  const auto operands = module_.operands(op);
  return std::none_of(operands.begin(), operands.end(), [&](ValueId w) { return resolved(w) == v; });
}

// The next element-wise op must read it. Before that one may come a few others, such as the weights' gradient behind the operand's.
bool Lowering::waits_for_epilogue(OpId op) const {
  const Row* row = find_row(module_.row(op).name);
  if (waiting_.valid() || !options_.settings.flag("fuse") || !options_.settings.flag("epilogues") || !row->finish ||
      module_.results(op).size() != 1)
    return false;
  const ValueId v = module_.result(op);
  std::size_t between = 0;
  for (std::size_t i = at_ + 1; i < plan_.ops.size(); ++i) {
    const OpId next = plan_.ops[i];
    if (module_.row(next).constant || plan_.fused_into.contains(next.value)) continue;
    const Row* reader = find_row(module_.row(next).name);
    if (!is_elementwise(reader) && between++ < kMostBetween && may_come_first(next, v)) continue;
    if (!is_elementwise(reader) || !reader->expression || module_.results(next).size() != 1 || !reads_in_whole(next, v)) return false;
    const ir::Type &mine = module_.type_of(v), &theirs = module_.type_of(module_.result(next));
    const bool floats = mine.dtype == DType::float32 || mine.dtype == DType::float16;
    return floats && mine.dtype == theirs.dtype && mine.shape == theirs.shape && mine.place == theirs.place;
  }
  return false;
}

bool Lowering::finish(OpId op, const Group& group) {
  const ValueId v = module_.result(op);
  const auto own = std::find_if(group.leaves.begin(), group.leaves.end(), [&](const Leaf& l) { return l.value == v; });
  if (own == group.leaves.end() || analysis_.uses(v) > 0) return false;
  Epilogue epilogue;
  epilogue.product = static_cast<std::size_t>(own - group.leaves.begin());
  std::vector<ValueId> results;
  for (const Member& m : group.members) {
    // A new version of a tensor is written where that lies.
    if (!ir::new_versions(module_, m.op).empty()) return false;
    if (analysis_.uses(m.result) == 0 && group.members.size() > 1) continue;
    results.push_back(m.result);
    epilogue.results.push_back(m.expression);
    const Tensor kept = destination(m.result);
    epilogue.outs.push_back(kept.valid() ? kept : place_in_whole(m.result));
  }
  for (const Leaf& l : group.leaves) {
    if (!l.value.valid() || module_.type_of(l.value).place.device != place_of(op).device) return false;
    epilogue.operands.push_back(l.value == v ? Tensor() : slot(l.value).tensor);
  }
  if (results.empty()) return false;
  begin_op(op);
  for (const Leaf& l : group.leaves) current_.push_back(l.value);
  OpLowering lowering(*this, op);
  if (!find_row(module_.row(op).name)->finish(lowering, epilogue)) {
    for (ValueId w : module_.operands(op)) ++analysis_.uses(resolved(w));
    return false;
  }
  for (std::size_t r = 0; r < results.size(); ++r) define(results[r], fresh_slot(epilogue.outs[r]));
  if (decisions_) {
    decisions_.note(fmt::format("done with each part of {} '{}'", text_of(op), name_of(v)));
    tell_pass(group);
  }
  return true;
}

}  // namespace pando::lower
