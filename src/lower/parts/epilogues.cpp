// Products and convolutions with the element-wise ops that read their results: they wait for these, and all are computed part by part.
#include "lower/parts/fusion.h"
#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"
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
bool Fusion::reads_in_whole(OpId reader, ValueId v) const {
  const auto operands = parts_.module.operands(reader);
  return std::any_of(operands.begin(), operands.end(), [&](ValueId w) {
    if (w == v) return true;
    const OpId producer = parts_.module.value(w).producer;
    if (!producer.valid()) return false;
    const auto fused = plan_.fused_into.find(producer.value);
    return fused != plan_.fused_into.end() && fused->second == reader && reads_in_whole(producer, v);
  });
}

// Whether an op may be done before one that waits with the result `v`: it leaves everything as it is but for results of its own.
bool Fusion::may_come_first(OpId op, ValueId v) const {
  const ir::OpRow& row = parts_.module.row(op);
  if (!parts_.module.graphs(op).empty() || row.effects != ir::Effects::none || row.moves || !ir::new_versions(parts_.module, op).empty())
    return false;
  const auto operands = parts_.module.operands(op);
  return std::none_of(operands.begin(), operands.end(), [&](ValueId w) { return parts_.storages.resolved(w) == v; });
}

// The next element-wise op must read it. Before that one may come a few others, such as the weights' gradient behind the operand's.
bool Fusion::waits_for_epilogue(OpId op) const {
  const Row* row = find_row(parts_.module.row(op).name);
  if (waiting_.valid() || !fuse_ || !epilogues_ || !row->finish || parts_.module.results(op).size() != 1) return false;
  const ValueId v = parts_.module.result(op);
  std::size_t between = 0;
  for (std::size_t i = at_ + 1; i < plan_.ops.size(); ++i) {
    const OpId next = plan_.ops[i];
    if (parts_.module.row(next).constant || plan_.fused_into.contains(next.value)) continue;
    const Row* reader = find_row(parts_.module.row(next).name);
    if (!is_elementwise(reader) && between++ < kMostBetween && may_come_first(next, v)) continue;
    if (!is_elementwise(reader) || !reader->expression || parts_.module.results(next).size() != 1 || !reads_in_whole(next, v)) return false;
    const ir::Type &mine = parts_.module.type_of(v), &theirs = parts_.module.type_of(parts_.module.result(next));
    const bool floats = mine.dtype == DType::float32 || mine.dtype == DType::float16;
    return floats && mine.dtype == theirs.dtype && mine.shape == theirs.shape && mine.place == theirs.place;
  }
  return false;
}

bool Fusion::finish(OpId op, const Pass& pass) {
  const ValueId v = parts_.module.result(op);
  const auto own = std::find_if(pass.leaves.begin(), pass.leaves.end(), [&](const Leaf& l) { return l.value == v; });
  if (own == pass.leaves.end() || parts_.analysis.uses(v) > 0) return false;
  Epilogue epilogue;
  epilogue.product = static_cast<std::size_t>(own - pass.leaves.begin());
  std::vector<ValueId> results;
  for (const Pass::Member& m : pass.members) {
    // A new version of a tensor is written where that lies.
    if (!ir::new_versions(parts_.module, m.op).empty()) return false;
    if (parts_.analysis.uses(m.result) == 0 && pass.members.size() > 1) continue;
    results.push_back(m.result);
    epilogue.results.push_back(m.expression);
    const Tensor kept = parts_.destinations.of(m.result);
    epilogue.outs.push_back(kept.valid() ? kept : parts_.destinations.place_in_whole(m.result));
  }
  for (const Leaf& l : pass.leaves) {
    if (!l.value.valid() || parts_.module.type_of(l.value).place.device != parts_.places.place_of(op).device) return false;
    epilogue.operands.push_back(l.value == v ? Tensor() : parts_.storages.slot(l.value).tensor);
  }
  if (results.empty()) return false;
  parts_.storages.begin_op(op);
  for (const Leaf& l : pass.leaves) parts_.storages.guard(l.value);
  OpLowering lowering(parts_, op);
  if (!find_row(parts_.module.row(op).name)->finish(lowering, epilogue)) {
    for (ValueId w : parts_.module.operands(op)) ++parts_.analysis.uses(parts_.storages.resolved(w));
    return false;
  }
  for (std::size_t r = 0; r < results.size(); ++r) parts_.storages.define(results[r], parts_.storages.fresh_slot(epilogue.outs[r]));
  if (parts_.decisions) {
    parts_.decisions.note(fmt::format("done with each part of {} '{}'", text_of(parts_.module, op), parts_.module.name_of(v)));
    parts_.telling.pass(pass, plan_);
  }
  return true;
}

}  // namespace pando::lower
