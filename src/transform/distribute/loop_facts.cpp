#include "transform/distribute/loop_facts.h"

#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/samples.h"

namespace pando::transform {

using namespace ir;

namespace {

// One row of the first dimension.
bool is_row(const Attributes& a) { return a.ints("axes") == Ints{0} && a.ints("sizes") == Ints{1}; }

// Memory that begins with zeros.
bool is_zeros(const Attributes& a) { return a.has("init_type") && a.text("init_type") == "zero"; }

}  // namespace

std::optional<std::int64_t> LoopFacts::number(ValueId v) const {
  const auto it = numbers_.find(v.value);
  if (it == numbers_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::int64_t> LoopFacts::computed(OpId o) const {
  const OpRow& row = m_.row(o);
  const Type& type = m_.type_of(m_.result(o));
  if (!type.is_tensor() || !is_integer(type.dtype) || elements_of(type.shape) != 1) return std::nullopt;
  if (row.constant) return m_.blob(std::get<BlobId>(*m_.attributes(o).find("data"))).integer(0);
  if (!row.elementwise || m_.operands(o).empty()) return std::nullopt;
  std::vector<HostTensor> operands;
  for (ValueId v : m_.operands(o)) {
    const auto x = number(v);
    if (!x) return std::nullopt;
    operands.emplace_back(m_.type_of(v).dtype, m_.type_of(v).shape);
    operands.back().set_integer(0, *x);
  }
  return evaluate(row, operands, m_.attributes(o), m_.op(o).in_place)[0].integer(0);
}

std::optional<ValueId> LoopFacts::instead(const OpRow& op, const Attributes& attributes, const std::vector<ValueId>& operands) {
  if (op.view_form == ViewForm::reshaped && attributes.has("shape")) {
    const auto it = reshaped_.find(operands[0].value);
    if (it != reshaped_.end() && attributes.ints("shape") == Ints(m_.type_of(it->second).shape)) return it->second;
  }
  if (op.adds == Adds::operands && operands.size() == 2) {
    for (const std::size_t i : {0u, 1u}) {
      const ValueId other = operands[1 - i];
      if (zeros_.contains(operands[i].value) && m_.type_of(operands[i]).shape == m_.type_of(other).shape) return other;
    }
  }
  if (op.indexed != Indexed::reads || !is_row(attributes)) return std::nullopt;
  const auto index = number(operands[1]);
  const Shape& shape = m_.type_of(operands[0]).shape;
  if (!index || *index < 0 || *index >= shape[0]) return std::nullopt;
  if (const auto it = rows_.find(operands[0].value); it != rows_.end()) {
    const ValueId row = it->second[static_cast<std::size_t>(*index)];
    if (row.valid()) return row;
  }
  const Attributes slice{{"start", Ints{*index}}, {"stop", Ints{*index + 1}}, {"step", Ints{1}}, {"axis", Ints{0}}};
  return m_.result(infer_and_add(m_, graph_, "slice", {{operands[0]}}, slice));
}

void LoopFacts::note(OpId o) {
  if (m_.results(o).size() != 1) return;
  const OpRow& op = m_.row(o);
  const ValueId result = m_.result(o);
  const Type& type = m_.type_of(result);
  if (const auto x = computed(o)) {
    numbers_[result.value] = *x;
  } else if (is_zeros(m_.attributes(o))) {
    zeros_.insert(result.value);
  } else if (op.view_form == ViewForm::reshaped) {
    reshaped_[result.value] = m_.operand(o, 0);
  } else if (op.indexed == Indexed::replaces && is_row(m_.attributes(o))) {
    const auto index = number(m_.operand(o, 1));
    if (!index || *index < 0 || *index >= type.shape[0]) return;
    const auto before = rows_.find(m_.operand(o, 0).value);
    std::vector<ValueId> rows = before != rows_.end() ? before->second : std::vector<ValueId>(static_cast<std::size_t>(type.shape[0]));
    rows[static_cast<std::size_t>(*index)] = m_.operand(o, 2);
    rows_[result.value] = std::move(rows);
  }
}

}  // namespace pando::transform
