// Element-wise ops: trees of expressions, computed in one pass where the last of them stands.
#include "base/check.h"
#include "lower/element_types.h"
#include "lower/lowering.h"

#include <popops/ElementWise.hpp>

#include <algorithm>

namespace pando::lower {

using ir::DType;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;
namespace pe = popops::expr;

namespace {

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

Any Lowering::expression_of(ValueId v, OpId reader, std::vector<ValueId>& leaves) {
  v = resolved(v);
  const OpId producer = module_.value(v).producer;
  if (producer.valid()) {
    const auto fused = plan_.fused_into.find(producer.value);
    if (fused != plan_.fused_into.end() && fused->second == reader) return expression_of(producer, leaves);
    if (module_.row(producer).name == "constant" && ir::elements_of(module_.type_of(v).shape) == 1) {
      return constant_expression(module_.blob(std::get<ir::BlobId>(*module_.attributes(producer).find("data"))));
    }
  }
  auto it = std::find(leaves.begin(), leaves.end(), v);
  if (it == leaves.end()) it = leaves.insert(leaves.end(), v);
  return pe::PlaceHolder(static_cast<unsigned>(it - leaves.begin()) + 1);
}

Any Lowering::expression_of(OpId op, std::vector<ValueId>& leaves) {
  std::vector<Any> operands;
  for (ValueId v : module_.operands(op)) {
    operands.push_back(expression_of(v, op, leaves));
    --analysis_.uses(resolved(v));
  }
  return find_row(module_.row(op).name)->expression(Expression(module_, op, std::move(operands)));
}

void Lowering::lower_elementwise(OpId op) {
  need(Library::popops);
  std::vector<ValueId> leaves;
  Any expression = expression_of(op, leaves);
  if (leaves.empty()) {
    // Of constants alone.
    leaves.push_back(resolved(module_.operand(op, 0)));
    expression = find_row(module_.row(op).name)->expression([&] {
      std::vector<Any> operands;
      for (ValueId v : module_.operands(op)) {
        const auto it = std::find(leaves.begin(), leaves.end(), resolved(v));
        const auto at = it == leaves.end() ? leaves.insert(leaves.end(), resolved(v)) : it;
        operands.push_back(pe::PlaceHolder(static_cast<unsigned>(at - leaves.begin()) + 1));
      }
      return Expression(module_, op, std::move(operands));
    }());
  }
  std::vector<Tensor> tensors;
  for (ValueId v : leaves) tensors.push_back(slot(v).tensor);
  const ValueId result = module_.result(op);
  const ir::Type& type = module_.type_of(result);
  const auto same_type = [&](ValueId v) { return module_.type_of(v).shape == type.shape && module_.type_of(v).dtype == type.dtype; };
  current_ = leaves;

  // The leaf that the result overwrites: the operand that it is a new version of, else one that nobody reads any more.
  const bool new_version = !ir::new_versions(module_, op).empty();
  std::size_t target = leaves.size();
  const ValueId first = resolved(module_.operand(op, 0));
  for (std::size_t i = 0; i < leaves.size() && target == leaves.size(); ++i) {
    if (!same_type(leaves[i])) continue;
    if (new_version ? leaves[i] == first : is_dead_temporary(leaves[i])) target = i;
  }
  poplar::Graph& graph = graph_of(op);
  if (const auto* only = static_cast<const pe::Expr&>(expression).getAs<pe::PlaceHolder>()) return keep_value(op, leaves, only->getIndex() - 1, new_version);
  if (target < leaves.size()) {
    const Slot home = writable(leaves[target], false);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      // Values that had to move are read where they are now; the target where its old contents are.
      if (i != target) tensors[i] = slot(leaves[i]).tensor;
    }
    popops::mapWithOutput(graph, expression, tensors, home.tensor, program(), name_of(result));
    define(result, home);
  } else {
    Tensor t = popops::map(graph, expression, tensors, program(), name_of(result));
    const auto shape = extents(type.shape);
    if (t.shape() != shape) t = t.reshape(shape);
    define(result, fresh_slot(t));
  }
}

// A result that is an operand's value: copied where it is a new version of another tensor, else where the operand lies.
void Lowering::keep_value(OpId op, const std::vector<ValueId>& leaves, std::size_t leaf, bool new_version) {
  const ValueId result = module_.result(op), first = resolved(module_.operand(op, 0));
  // The operand may be a part of this expression, without storage.
  const bool at_home = new_version && std::find(leaves.begin(), leaves.end(), first) != leaves.end();
  const bool whole = module_.type_of(leaves[leaf]).shape == module_.type_of(result).shape;
  if (!at_home && whole) return define(result, slot(leaves[leaf]));
  const Slot home = at_home ? writable(first, false) : fresh_slot(new_tensor(result));
  const Tensor from = slot(leaves[leaf]).tensor;
  const Tensor to = home.tensor;
  assign_all({&to, 1}, {&from, 1});
  define(result, home);
}

}  // namespace pando::lower
