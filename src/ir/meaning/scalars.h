// Parameters that are numbers or scalar tensors (scaled_add's a, accumulate_'s f): a number is an attribute of that name; a tensor is a
// trailing operand, in the order of attribute "scalars", which names them.
#pragma once

#include "ir/op_row.h"

#include <optional>
#include <string_view>

namespace pando::ir {

// Which operand holds the parameter, where `first` operands come before the scalars; none: the attribute has it, or it is absent.
inline std::optional<std::size_t> scalar_operand(const Attributes& attributes, std::string_view name, std::size_t first) {
  const AttributeValue* names = attributes.find("scalars");
  if (!names) return std::nullopt;
  const Strings& all = std::get<Strings>(*names);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == name) return first + i;
  }
  return std::nullopt;
}

inline double scalar_of(const Evaluation& e, std::string_view name, std::size_t first, double otherwise) {
  const auto operand = scalar_operand(e.attributes(), name, first);
  return operand ? e.operand(*operand).number(0) : e.attributes().number(name, otherwise);
}

// Refuses scalars that are missing, too many, or no scalars.
inline void check_scalars(const Inference& in, std::size_t first) {
  const AttributeValue* names = in.attributes().find("scalars");
  const std::size_t n = names ? std::get<Strings>(*names).size() : 0;
  if (in.operands() != first + n) in.refuse("scalar-count", "{} operands; {} and {} scalars were announced", in.operands(), first, n);
  for (std::size_t i = first; i < in.operands(); ++i) {
    if (elements_of(in.shape(i)) != 1) in.refuse("scalar-shape", "parameter '{}' has the shape {}, not ()", std::get<Strings>(*names)[i - first], to_string(in.shape(i)));
  }
}

}  // namespace pando::ir
