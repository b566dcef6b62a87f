#include "transform/distribute/loop_facts.h"

#include "ir/infer.h"
#include "ir/op_row.h"

namespace pando::transform {

using namespace ir;

namespace {

// One row of the first dimension.
bool is_row(const Attributes& a) { return a.ints("axes") == Ints{0} && a.ints("sizes") == Ints{1}; }

}  // namespace

std::optional<std::int64_t> LoopFacts::number(ValueId v) const {
  const auto it = numbers_.find(v.value);
  if (it == numbers_.end()) return std::nullopt;
  return it->second;
}

std::optional<ValueId> LoopFacts::instead(std::string_view op, const Attributes& attributes, const std::vector<ValueId>& operands) {
  if (op == "reshape") {
    const auto it = reshaped_.find(operands[0].value);
    if (it != reshaped_.end() && attributes.ints("shape") == Ints(m_.type_of(it->second).shape)) return it->second;
  }
  if (op == "add") {
    for (const std::size_t i : {0u, 1u}) {
      const ValueId other = operands[1 - i];
      if (zeros_.contains(operands[i].value) && m_.type_of(operands[i]).shape == m_.type_of(other).shape) return other;
    }
  }
  if (op != "dynamic_slice" || !is_row(attributes)) return std::nullopt;
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
  const std::string_view op = m_.row(o).name;
  const ValueId result = m_.result(o);
  const Type& type = m_.type_of(result);
  if (op == "constant" && is_integer(type.dtype) && elements_of(type.shape) == 1) {
    numbers_[result.value] = m_.blob(std::get<BlobId>(*m_.attributes(o).find("data"))).integer(0);
  } else if (op == "init" && m_.attributes(o).text("init_type") == "zero") {
    zeros_.insert(result.value);
  } else if (op == "add" || op == "sub") {
    const auto a = number(m_.operand(o, 0)), b = number(m_.operand(o, 1));
    if (a && b) numbers_[result.value] = op == "add" ? *a + *b : *a - *b;
  } else if (op == "reshape") {
    reshaped_[result.value] = m_.operand(o, 0);
  } else if (op == "dynamic_update" && is_row(m_.attributes(o))) {
    const auto index = number(m_.operand(o, 1));
    if (!index || *index < 0 || *index >= type.shape[0]) return;
    const auto before = rows_.find(m_.operand(o, 0).value);
    std::vector<ValueId> rows = before != rows_.end() ? before->second : std::vector<ValueId>(static_cast<std::size_t>(type.shape[0]));
    rows[static_cast<std::size_t>(*index)] = m_.operand(o, 2);
    rows_[result.value] = std::move(rows);
  }
}

}  // namespace pando::transform
