// Element-wise ops: trees of expressions, computed in one pass where the last of them stands; and those of one shape that follow each other
// and share operands, computed in one pass where the first of them stands.
#include "base/check.h"
#include "lower/lowering.h"
#include "lower/shared/moving.h"
#include "lower/terms/element_types.h"

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

Any constant_expression(const ir::HostTensor& data) {
  const DType t = data.dtype();
  if (t == DType::float16) return pe::ConstHalf(static_cast<float>(data.number(0)));
  if (t == DType::float32) return pe::Const(static_cast<float>(data.number(0)));
  if (t == DType::boolean) return pe::Const(data.number(0) != 0);
  const poplar::Type type = element_type(t);
  if (ir::is_unsigned_integer(t)) {
    const auto value = static_cast<std::uint64_t>(data.integer(0));
    return pe::Const(poplar::TypeTraits::make<std::uint64_t>(), type, reinterpret_cast<const char*>(&value));
  }
  const std::int64_t value = data.integer(0);
  return pe::Const(poplar::TypeTraits::make<std::int64_t>(), type, reinterpret_cast<const char*>(&value));
}

}  // namespace

Any Expression::number(DType dtype, double value) const { return constant_expression(ir::HostTensor::filled(dtype, {}, value)); }
Any Expression::number(double value) const { return number(operand_type(0).dtype, value); }

std::optional<std::size_t> Expression::scalar_operand(std::string_view name) const { return lower::scalar_operand(module_, op_, name); }

Any Formula::tensor(const Tensor& t) {
  leaves_.push_back({{}, t});
  return pe::PlaceHolder(static_cast<unsigned>(leaves_.size()));
}

const Lowering::Member* Lowering::Group::find(ValueId v) const {
  const auto it = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.result == v; });
  return it == members.end() ? nullptr : &*it;
}

Any Lowering::expression_of(ValueId v, OpId reader, Group& group) {
  v = resolved(v);
  if (const Member* m = group.find(v)) return m->expression;
  const OpId producer = module_.value(v).producer;
  if (producer.valid()) {
    const auto fused = plan_.fused_into.find(producer.value);
    if (fused != plan_.fused_into.end() && fused->second == reader) return expression_of(producer, group);
    if (module_.row(producer).constant && ir::elements_of(module_.type_of(v).shape) == 1) {
      return constant_expression(module_.blob(std::get<ir::BlobId>(*module_.attributes(producer).find("data"))));
    }
  }
  auto it = std::find_if(group.leaves.begin(), group.leaves.end(), [&](const Leaf& l) { return l.value == v; });
  if (it == group.leaves.end()) it = group.leaves.insert(group.leaves.end(), {v, {}});
  return pe::PlaceHolder(static_cast<unsigned>(it - group.leaves.begin()) + 1);
}

Any Lowering::expression_of(OpId op, Group& group) {
  std::vector<Any> operands;
  for (ValueId v : module_.operands(op)) operands.push_back(expression_of(v, op, group));
  return find_row(module_.row(op).name)->expression(Expression(module_, op, std::move(operands)));
}

// Of the op, and of what is fused into it.
void Lowering::count_reads(OpId op, const Group& group) {
  for (ValueId v : module_.operands(op)) {
    v = resolved(v);
    --analysis_.uses(v);
    const OpId producer = module_.value(v).producer;
    if (!producer.valid() || group.find(v) != nullptr) continue;
    const auto fused = plan_.fused_into.find(producer.value);
    if (fused != plan_.fused_into.end() && fused->second == op) count_reads(producer, group);
  }
}

// Members have one shape, type and place. Only floats: a half is rounded when it is stored, and others are to read it so.
bool Lowering::may_join(const Group& group, OpId op) const {
  const Row* row = find_row(module_.row(op).name);
  if (!is_elementwise(row) || group.members.size() == kMembersOfPass) return false;
  const ir::Type &mine = module_.type_of(module_.result(op)), &theirs = module_.type_of(group.members[0].result);
  if (mine.dtype != DType::float32 || theirs.dtype != DType::float32 || mine.shape != theirs.shape || !(mine.place == theirs.place))
    return false;
  if (row->expression && module_.results(op).size() != 1) return false;
  // A formula may read the result of the op that waits before that is computed.
  if (row->formula && waiting_.valid()) return false;
  bool shares = false;
  for (std::size_t i = 0; i < module_.operands(op).size(); ++i) {
    const ValueId v = resolved(module_.operand(op, i));
    const Member* m = group.find(v);
    // A formula reads its first two operands as expressions, others as tensors.
    if (m != nullptr && (m->depth == kDepthOfPass || (row->formula && i >= 2))) return false;
    const bool leaf = std::any_of(group.leaves.begin(), group.leaves.end(), [&](const Leaf& l) { return l.value == v; });
    shares = shares || m != nullptr || (leaf && module_.type_of(v).shape == mine.shape);
  }
  return shares;
}

bool Lowering::add_expression(Group& group, OpId op) {
  Group larger = group;
  Any expression = expression_of(op, larger);
  const bool first = group.members.empty();
  if (first && larger.leaves.empty()) {
    // Of constants alone: they are read as tensors.
    std::vector<Any> operands;
    for (ValueId v : module_.operands(op)) {
      larger.leaves.push_back({resolved(v), {}});
      operands.push_back(pe::PlaceHolder(static_cast<unsigned>(larger.leaves.size())));
    }
    expression = find_row(module_.row(op).name)->expression(Expression(module_, op, std::move(operands)));
  }
  // What only gives an operand on is not computed.
  if (!first && (larger.leaves.size() > kLeavesOfPass || static_cast<const pe::Expr&>(expression).getAs<pe::PlaceHolder>() != nullptr))
    return false;
  unsigned depth = 1;
  for (ValueId v : module_.operands(op)) {
    if (const Member* m = group.find(resolved(v))) depth = std::max(depth, m->depth + 1);
  }
  count_reads(op, group);
  group.leaves = std::move(larger.leaves);
  group.members.push_back({op, module_.result(op), expression, depth});
  return true;
}

void Lowering::add_formula(Group& group, OpId op) {
  std::vector<Any> operands;
  unsigned depth = 1;
  for (ValueId v : module_.operands(op)) {
    if (const Member* m = group.find(resolved(v))) depth = std::max(depth, m->depth + 1);
  }
  // What is not as large as the result the function reads as a tensor, if at all.
  for (ValueId v : module_.operands(op)) {
    const bool whole = module_.type_of(v).shape == module_.type_of(module_.result(op)).shape;
    operands.push_back(whole ? expression_of(v, op, group) : Any(pe::Const(0.0f)));
  }
  begin_op(op);
  for (const Leaf& l : group.leaves) {
    if (l.value.valid()) current_.push_back(l.value);
  }
  OpLowering lowering(*this, op);
  Formula formula(std::move(operands), group.leaves);
  const Any expression = find_row(module_.row(op).name)->formula(lowering, formula);
  group.members.push_back({op, module_.result(op), expression, depth});
}

bool Lowering::join(Group& group, OpId op) {
  if (!group.members.empty() && !may_join(group, op)) return false;
  if (find_row(module_.row(op).name)->expression) return add_expression(group, op);
  if (!group.members.empty() && group.leaves.size() + module_.operands(op).size() + 2 > kLeavesOfPass) return false;
  add_formula(group, op);
  return true;
}

void Lowering::lower_elementwise(OpId op) {
  need(Library::popops);
  Group group;
  join(group, op);
  for (std::size_t i = at_ + 1; options_.settings.flag("fuse") && i < plan_.ops.size(); ++i) {
    const OpId next = plan_.ops[i];
    if (module_.row(next).constant || plan_.fused_into.contains(next.value)) continue;
    if (!join(group, next)) break;
    plan_.fused_into.emplace(next.value, next);  // it is done
  }
  if (waiting_.valid()) {
    const OpId before = std::exchange(waiting_, OpId());
    if (finish(before, group)) return;
    lower_plainly(before);
  }
  compute(group);
  if (decisions_) tell_pass(group);
}

// The leaf that a member's result overwrites: the operand that it is a new version of, else one that nobody reads any more.
std::optional<std::size_t> Lowering::overwritten_leaf(const Group& group, const Member& member, const std::vector<bool>& taken) {
  const ir::Type& type = module_.type_of(member.result);
  const bool new_version = !ir::new_versions(module_, member.op).empty() && find_row(module_.row(member.op).name)->expression != nullptr;
  ValueId first = resolved(module_.operand(member.op, 0));
  // A new version of what is itself only a step on the way lies where that would.
  for (const Member* m = group.find(first); new_version && m != nullptr && analysis_.uses(first) == 0; m = group.find(first)) {
    if (ir::new_versions(module_, m->op).empty()) break;
    first = resolved(module_.operand(m->op, 0));
  }
  for (std::size_t i = 0; i < group.leaves.size(); ++i) {
    const ValueId v = group.leaves[i].value;
    if (!v.valid() || taken[i] || module_.type_of(v).shape != type.shape || module_.type_of(v).dtype != type.dtype) continue;
    // A result lies where its type says, be it a new version of what lies elsewhere.
    if (!lie_together(v, member.result)) continue;
    if (new_version ? v == first : is_dead_temporary(v)) return i;
  }
  return std::nullopt;
}

// A matrix that lies turned beside others of its shape that do not: all of its elements would be moved one by one. A copy in rows is read
// instead, unless a result is written there.
void Lowering::turn_alike(poplar::Graph& graph, std::vector<Tensor>& operands, const std::vector<bool>& written, const std::string& name) {
  if (graph.getTarget().getNumTiles() == 1) return;
  const auto is_whole = [&](const Tensor& t) { return t.rank() >= 2 && t.isContiguous(); };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto lies_otherwise = [&](const Tensor& t) { return t.shape() == operands[i].shape() && is_whole(t); };
    if (written[i] || is_whole(operands[i]) || std::none_of(operands.begin(), operands.end(), lies_otherwise)) continue;
    if (lies_turned(operands[i])) operands[i] = in_rows(graph, operands[i], program(), name);
  }
}

void Lowering::compute(const Group& group) {
  current_.clear();
  std::vector<Tensor> tensors;
  const Member& last = group.members.back();
  const poplar::Graph& here = graph_of(last.op);
  // Operands at another place are read from there.
  bool one_place = true;
  // A scalar parameter may have more dimensions than what it scales.
  const auto read = [&](ValueId v) {
    const Tensor& t = slot(v).tensor;
    return t.numElements() == 1 ? t.reshape({}) : t;
  };
  for (const Leaf& l : group.leaves) {
    tensors.push_back(l.value.valid() ? read(l.value) : l.tensor);
    if (!l.value.valid()) continue;
    current_.push_back(l.value);
    one_place = one_place && &graph_at(module_.type_of(l.value).place) == &here;
  }
  poplar::Graph& graph = one_place ? graph_of(last.op) : graph_;
  std::vector<const Member*> results;
  for (const Member& m : group.members) {
    if (analysis_.uses(m.result) > 0 || group.members.size() == 1) results.push_back(&m);
  }
  if (results.empty()) return;
  if (group.members.size() == 1) {
    const bool new_version = !ir::new_versions(module_, last.op).empty();
    const auto* only = static_cast<const pe::Expr&>(last.expression).getAs<pe::PlaceHolder>();
    if (only != nullptr) return keep_value(last.op, group.leaves, only->getIndex() - 1, new_version);
  }
  std::vector<bool> taken(group.leaves.size());
  std::vector<Slot> homes;
  for (const Member* m : results) {
    if (const Tensor kept = destination(m->result); kept.valid() && ir::new_versions(module_, m->op).empty()) {
      homes.push_back(fresh_slot(kept));
      continue;
    }
    const auto leaf = overwritten_leaf(group, *m, taken);
    Slot home = leaf ? writable(group.leaves[*leaf].value, false) : Slot();
    if (std::any_of(homes.begin(), homes.end(),
                    [&](const Slot& h) { return h.tensor.valid() && leaf && h.tensor.intersectsWith(home.tensor); }))
      home = {};
    if (home.tensor.valid()) taken[*leaf] = true;
    if (!home.tensor.valid() && !one_place) home = fresh_slot(new_tensor(m->result));
    homes.push_back(std::move(home));
  }
  for (std::size_t i = 0; i < group.leaves.size(); ++i) {
    // Values that had to move are read where they are now; what is overwritten where its old contents are.
    if (!taken[i] && group.leaves[i].value.valid()) tensors[i] = read(group.leaves[i].value);
  }
  turn_alike(graph, tensors, taken, name_of(last.result));
  const auto shape = extents(module_.type_of(last.result).shape);
  if (results.size() == 1 && !homes[0].tensor.valid()) {
    const Tensor t = popops::map(graph, results[0]->expression, tensors, program(), name_of(results[0]->result));
    return define(results[0]->result, fresh_slot(t.shape() == shape ? t : t.reshape(shape)));
  }
  std::vector<Any> expressions;
  std::vector<Tensor> outs;
  for (std::size_t r = 0; r < results.size(); ++r) {
    expressions.push_back(results[r]->expression);
    if (!homes[r].tensor.valid()) {
      const std::string name = name_of(results[r]->result);
      const poplar::Type type = element_type(module_.type_of(results[r]->result).dtype);
      homes[r] = fresh_slot(popops::createOutputForElementWiseOp(graph, tensors, type, name).reshape(shape));
    }
    outs.push_back(homes[r].tensor);
  }
  popops::mapWithOutput(graph, expressions, tensors, outs, program(), name_of(last.result));
  for (std::size_t r = 0; r < results.size(); ++r) define(results[r]->result, homes[r]);
}

// A result that is an operand's value: copied where it is a new version of another tensor, else where the operand lies.
void Lowering::keep_value(OpId op, const std::vector<Leaf>& leaves, std::size_t leaf, bool new_version) {
  const ValueId result = module_.result(op), first = resolved(module_.operand(op, 0));
  const ValueId value = leaves[leaf].value;
  const ir::Type &from_type = module_.type_of(value), &to_type = module_.type_of(result);
  // The operand may be a part of this expression, without storage.
  const bool at_home = new_version && lie_together(first, result) &&
                       std::any_of(leaves.begin(), leaves.end(), [&](const Leaf& l) { return l.value == first; });
  const bool lies_so = from_type.shape == to_type.shape && lie_together(value, result);
  if (!at_home && lies_so) return define(result, slot(value));
  const Slot home = at_home ? writable(first, false) : fresh_slot(new_tensor(result));
  const Tensor from = slot(value).tensor;
  const Tensor to = home.tensor;
  assign_all({&to, 1}, {&from, 1});
  define(result, home);
}

}  // namespace pando::lower
