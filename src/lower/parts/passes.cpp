// Element-wise ops in passes: where those of one shape that follow each other share operands, the pass stands where the first of them does.
#include "base/check.h"
#include "lower/parts/fusion.h"
#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"
#include "lower/terms/element_types.h"
#include "lower/terms/moving.h"

#include <popops/ElementWise.hpp>
#include <popops/ElementWiseUtil.hpp>

#include <algorithm>
#include <utility>

namespace pando::lower {

using ir::DType;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;
namespace pe = popops::expr;

namespace {

// Of a pass with several results: more make a vertex with more edges than a pass over memory saves.
constexpr std::size_t kLeavesOfPass = 12, kMembersOfPass = 8;
constexpr unsigned kDepthOfPass = 4;

}  // namespace

const Pass::Member* Pass::find(ValueId v) const {
  const auto it = std::find_if(members.begin(), members.end(), [&](const Pass::Member& m) { return m.result == v; });
  return it == members.end() ? nullptr : &*it;
}

Any Fusion::expression_of(ValueId v, OpId reader, Pass& pass) {
  v = parts_.storages.resolved(v);
  if (const Pass::Member* m = pass.find(v)) return m->expression;
  const OpId producer = parts_.module.value(v).producer;
  if (producer.valid()) {
    const auto fused = plan_.fused_into.find(producer.value);
    if (fused != plan_.fused_into.end() && fused->second == reader) return expression_of(producer, pass);
    if (parts_.module.row(producer).constant && ir::elements_of(parts_.module.type_of(v).shape) == 1) {
      return constant_expression(parts_.module.blob(std::get<ir::BlobId>(*parts_.module.attributes(producer).find("data"))));
    }
  }
  auto it = std::find_if(pass.leaves.begin(), pass.leaves.end(), [&](const Leaf& l) { return l.value == v; });
  if (it == pass.leaves.end()) it = pass.leaves.insert(pass.leaves.end(), {v, {}});
  return pe::PlaceHolder(static_cast<unsigned>(it - pass.leaves.begin()) + 1);
}

Any Fusion::expression_of(OpId op, Pass& pass) {
  std::vector<Any> operands;
  for (ValueId v : parts_.module.operands(op)) operands.push_back(expression_of(v, op, pass));
  return find_row(parts_.module.row(op).name)->expression(Expression(parts_.module, op, std::move(operands)));
}

// Of the op, and of what is fused into it.
void Fusion::count_reads(OpId op, const Pass& pass) {
  for (ValueId v : parts_.module.operands(op)) {
    v = parts_.storages.resolved(v);
    --parts_.analysis.uses(v);
    const OpId producer = parts_.module.value(v).producer;
    if (!producer.valid() || pass.find(v) != nullptr) continue;
    const auto fused = plan_.fused_into.find(producer.value);
    if (fused != plan_.fused_into.end() && fused->second == op) count_reads(producer, pass);
  }
}

// Members have one shape, type and place. Only floats: a half is rounded when it is stored, and others are to read it so.
bool Fusion::may_join(const Pass& pass, OpId op) const {
  const Row* row = find_row(parts_.module.row(op).name);
  if (!is_elementwise(row) || pass.members.size() == kMembersOfPass) return false;
  const ir::Type &mine = parts_.module.type_of(parts_.module.result(op)), &theirs = parts_.module.type_of(pass.members[0].result);
  if (mine.dtype != DType::float32 || theirs.dtype != DType::float32 || mine.shape != theirs.shape || !(mine.place == theirs.place))
    return false;
  if (row->expression && parts_.module.results(op).size() != 1) return false;
  // A formula may read the result of the op that waits before that is computed.
  if (row->formula && waiting_.valid()) return false;
  bool shares = false;
  for (std::size_t i = 0; i < parts_.module.operands(op).size(); ++i) {
    const ValueId v = parts_.storages.resolved(parts_.module.operand(op, i));
    const Pass::Member* m = pass.find(v);
    // A formula reads its first two operands as expressions, others as tensors.
    if (m != nullptr && (m->depth == kDepthOfPass || (row->formula && i >= 2))) return false;
    const bool leaf = std::any_of(pass.leaves.begin(), pass.leaves.end(), [&](const Leaf& l) { return l.value == v; });
    shares = shares || m != nullptr || (leaf && parts_.module.type_of(v).shape == mine.shape);
  }
  return shares;
}

bool Fusion::add_expression(Pass& pass, OpId op) {
  Pass larger = pass;
  Any expression = expression_of(op, larger);
  const bool first = pass.members.empty();
  if (first && larger.leaves.empty()) {
    // Of constants alone: they are read as tensors.
    std::vector<Any> operands;
    for (ValueId v : parts_.module.operands(op)) {
      larger.leaves.push_back({parts_.storages.resolved(v), {}});
      operands.push_back(pe::PlaceHolder(static_cast<unsigned>(larger.leaves.size())));
    }
    expression = find_row(parts_.module.row(op).name)->expression(Expression(parts_.module, op, std::move(operands)));
  }
  // What only gives an operand on is not computed.
  if (!first && (larger.leaves.size() > kLeavesOfPass || static_cast<const pe::Expr&>(expression).getAs<pe::PlaceHolder>() != nullptr))
    return false;
  unsigned depth = 1;
  for (ValueId v : parts_.module.operands(op)) {
    if (const Pass::Member* m = pass.find(parts_.storages.resolved(v))) depth = std::max(depth, m->depth + 1);
  }
  count_reads(op, pass);
  pass.leaves = std::move(larger.leaves);
  pass.members.push_back({op, parts_.module.result(op), expression, depth});
  return true;
}

void Fusion::add_formula(Pass& pass, OpId op) {
  std::vector<Any> operands;
  unsigned depth = 1;
  for (ValueId v : parts_.module.operands(op)) {
    if (const Pass::Member* m = pass.find(parts_.storages.resolved(v))) depth = std::max(depth, m->depth + 1);
  }
  // What is not as large as the result the function reads as a tensor, if at all.
  for (ValueId v : parts_.module.operands(op)) {
    const bool whole = parts_.module.type_of(v).shape == parts_.module.type_of(parts_.module.result(op)).shape;
    operands.push_back(whole ? expression_of(v, op, pass) : Any(pe::Const(0.0f)));
  }
  parts_.storages.begin_op(op);
  for (const Leaf& l : pass.leaves) {
    if (l.value.valid()) parts_.storages.guard(l.value);
  }
  OpLowering lowering(parts_, op);
  Formula formula(std::move(operands), pass.leaves);
  const Any expression = find_row(parts_.module.row(op).name)->formula(lowering, formula);
  pass.members.push_back({op, parts_.module.result(op), expression, depth});
}

bool Fusion::join(Pass& pass, OpId op) {
  if (!pass.members.empty() && !may_join(pass, op)) return false;
  if (find_row(parts_.module.row(op).name)->expression) return add_expression(pass, op);
  if (!pass.members.empty() && pass.leaves.size() + parts_.module.operands(op).size() + 2 > kLeavesOfPass) return false;
  add_formula(pass, op);
  return true;
}

void Fusion::lower_elementwise(OpId op) {
  parts_.libraries.need(Library::popops);
  Pass pass;
  join(pass, op);
  for (std::size_t i = at_ + 1; fuse_ && i < plan_.ops.size(); ++i) {
    const OpId next = plan_.ops[i];
    if (parts_.module.row(next).constant || plan_.fused_into.contains(next.value)) continue;
    if (!join(pass, next)) break;
    plan_.fused_into.emplace(next.value, next);  // it is done
  }
  if (waiting_.valid()) {
    const OpId before = std::exchange(waiting_, OpId());
    if (finish(before, pass)) return;
    lower_plainly(before);
  }
  compute(pass);
  if (parts_.decisions) parts_.telling.pass(pass, plan_);
}

// The leaf that a member's result overwrites: the operand that it is a new version of, else one that nobody reads any more.
std::optional<std::size_t> Fusion::overwritten_leaf(const Pass& pass, const Pass::Member& member, const std::vector<bool>& taken) {
  const ir::Type& type = parts_.module.type_of(member.result);
  const bool new_version =
      !ir::new_versions(parts_.module, member.op).empty() && find_row(parts_.module.row(member.op).name)->expression != nullptr;
  ValueId first = parts_.storages.resolved(parts_.module.operand(member.op, 0));
  // A new version of what is itself only a step on the way lies where that would.
  for (const Pass::Member* m = pass.find(first); new_version && m != nullptr && parts_.analysis.uses(first) == 0; m = pass.find(first)) {
    if (ir::new_versions(parts_.module, m->op).empty()) break;
    first = parts_.storages.resolved(parts_.module.operand(m->op, 0));
  }
  for (std::size_t i = 0; i < pass.leaves.size(); ++i) {
    const ValueId v = pass.leaves[i].value;
    if (!v.valid() || taken[i] || parts_.module.type_of(v).shape != type.shape || parts_.module.type_of(v).dtype != type.dtype) continue;
    // A result lies where its type says, be it a new version of what lies elsewhere.
    if (!parts_.places.lie_together(v, member.result)) continue;
    if (new_version ? v == first : parts_.storages.is_dead_temporary(v)) return i;
  }
  return std::nullopt;
}

// A matrix that lies turned beside others of its shape that do not: all of its elements would be moved one by one. A copy in rows is read
// instead, unless a result is written there.
void Fusion::turn_alike(poplar::Graph& graph, std::vector<Tensor>& operands, const std::vector<bool>& written, const std::string& name) {
  if (graph.getTarget().getNumTiles() == 1) return;
  const auto is_whole = [&](const Tensor& t) { return t.rank() >= 2 && t.isContiguous(); };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto lies_otherwise = [&](const Tensor& t) { return t.shape() == operands[i].shape() && is_whole(t); };
    if (written[i] || is_whole(operands[i]) || std::none_of(operands.begin(), operands.end(), lies_otherwise)) continue;
    if (lies_turned(operands[i])) operands[i] = in_rows(graph, operands[i], parts_.cursor.program(), name);
  }
}

std::vector<Slot> Fusion::homes_of(const Pass& pass, const std::vector<const Pass::Member*>& results, bool one_place,
                                   std::vector<bool>& taken) {
  std::vector<Slot> homes;
  for (const Pass::Member* m : results) {
    if (const Tensor kept = parts_.destinations.of(m->result); kept.valid() && ir::new_versions(parts_.module, m->op).empty()) {
      homes.push_back(parts_.storages.fresh_slot(kept));
      continue;
    }
    const auto leaf = overwritten_leaf(pass, *m, taken);
    Slot home = leaf ? parts_.storages.writable(pass.leaves[*leaf].value, false) : Slot();
    if (std::any_of(homes.begin(), homes.end(),
                    [&](const Slot& h) { return h.tensor.valid() && leaf && h.tensor.intersectsWith(home.tensor); }))
      home = {};
    if (home.tensor.valid()) taken[*leaf] = true;
    if (!home.tensor.valid() && !one_place) home = parts_.storages.fresh_slot(parts_.layouts.new_tensor(m->result));
    homes.push_back(std::move(home));
  }
  return homes;
}

void Fusion::compute(const Pass& pass) {
  parts_.storages.end_op();
  std::vector<Tensor> tensors;
  const Pass::Member& last = pass.members.back();
  const poplar::Graph& here = parts_.places.graph_of(last.op);
  // Operands at another place are read from there.
  bool one_place = true;
  // A scalar parameter may have more dimensions than what it scales.
  const auto read = [&](ValueId v) {
    const Tensor& t = parts_.storages.slot(v).tensor;
    return t.numElements() == 1 ? t.reshape({}) : t;
  };
  for (const Leaf& l : pass.leaves) {
    tensors.push_back(l.value.valid() ? read(l.value) : l.tensor);
    if (!l.value.valid()) continue;
    parts_.storages.guard(l.value);
    one_place = one_place && &parts_.places.graph_at(parts_.module.type_of(l.value).place) == &here;
  }
  poplar::Graph& graph = one_place ? parts_.places.graph_of(last.op) : parts_.places.top();
  std::vector<const Pass::Member*> results;
  for (const Pass::Member& m : pass.members) {
    if (parts_.analysis.uses(m.result) > 0 || pass.members.size() == 1) results.push_back(&m);
  }
  if (results.empty()) return;
  if (pass.members.size() == 1) {
    const bool new_version = !ir::new_versions(parts_.module, last.op).empty();
    const auto* only = static_cast<const pe::Expr&>(last.expression).getAs<pe::PlaceHolder>();
    if (only != nullptr) return keep_value(last.op, pass.leaves, only->getIndex() - 1, new_version);
  }
  std::vector<bool> taken(pass.leaves.size());
  std::vector<Slot> homes = homes_of(pass, results, one_place, taken);
  for (std::size_t i = 0; i < pass.leaves.size(); ++i) {
    // Values that had to move are read where they are now; what is overwritten where its old contents are.
    if (!taken[i] && pass.leaves[i].value.valid()) tensors[i] = read(pass.leaves[i].value);
  }
  turn_alike(graph, tensors, taken, parts_.module.name_of(last.result));
  const auto shape = extents(parts_.module.type_of(last.result).shape);
  if (results.size() == 1 && !homes[0].tensor.valid()) {
    const Tensor t =
        popops::map(graph, results[0]->expression, tensors, parts_.cursor.program(), parts_.module.name_of(results[0]->result));
    return parts_.storages.define(results[0]->result, parts_.storages.fresh_slot(t.shape() == shape ? t : t.reshape(shape)));
  }
  std::vector<Any> expressions;
  std::vector<Tensor> outs;
  for (std::size_t r = 0; r < results.size(); ++r) {
    expressions.push_back(results[r]->expression);
    if (!homes[r].tensor.valid()) {
      const std::string name = parts_.module.name_of(results[r]->result);
      const poplar::Type type = element_type(parts_.module.type_of(results[r]->result).dtype);
      homes[r] = parts_.storages.fresh_slot(popops::createOutputForElementWiseOp(graph, tensors, type, name).reshape(shape));
    }
    outs.push_back(homes[r].tensor);
  }
  popops::mapWithOutput(graph, expressions, tensors, outs, parts_.cursor.program(), parts_.module.name_of(last.result));
  for (std::size_t r = 0; r < results.size(); ++r) parts_.storages.define(results[r]->result, homes[r]);
}

// A result that is an operand's value: copied where it is a new version of another tensor, else where the operand lies.
void Fusion::keep_value(OpId op, const std::vector<Leaf>& leaves, std::size_t leaf, bool new_version) {
  const ValueId result = parts_.module.result(op), first = parts_.storages.resolved(parts_.module.operand(op, 0));
  const ValueId value = leaves[leaf].value;
  const ir::Type &from_type = parts_.module.type_of(value), &to_type = parts_.module.type_of(result);
  // The operand may be a part of this expression, without storage.
  const bool at_home = new_version && parts_.places.lie_together(first, result) &&
                       std::any_of(leaves.begin(), leaves.end(), [&](const Leaf& l) { return l.value == first; });
  const bool lies_so = from_type.shape == to_type.shape && parts_.places.lie_together(value, result);
  if (!at_home && lies_so) return parts_.storages.define(result, parts_.storages.slot(value));
  const Slot home = at_home ? parts_.storages.writable(first, false) : parts_.storages.fresh_slot(parts_.layouts.new_tensor(result));
  const Tensor from = parts_.storages.slot(value).tensor;
  const Tensor to = home.tensor;
  parts_.storages.assign_all({&to, 1}, {&from, 1});
  parts_.storages.define(result, home);
}

}  // namespace pando::lower
