#include "ir/shared/scalars.h"

#include <algorithm>

namespace pando::ir {

namespace {

const Strings& scalar_names(const Attributes& a) {
  static const Strings none;
  const AttributeValue* v = a.find("scalars");
  return v ? std::get<Strings>(*v) : none;
}

}  // namespace

std::optional<std::size_t> scalar_operand(const Attributes& attributes, std::string_view name, std::size_t tensors) {
  const Strings& names = scalar_names(attributes);
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return tensors + static_cast<std::size_t>(it - names.begin());
}

void check_scalars(const Inference& in, std::size_t tensors, std::initializer_list<std::string_view> allowed) {
  const Strings& names = scalar_names(in.attributes());
  if (in.operands() != tensors + names.size()) {
    in.reject("scalar-count", "{} operands behind the first {}, {} are named", in.operands() - std::min(in.operands(), tensors), tensors,
              names.size());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) in.reject("scalar-unknown", "it has no parameter '{}'", name);
    const bool twice = in.attributes().has(name) || std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), name) !=
                                                        names.begin() + static_cast<std::ptrdiff_t>(i);
    if (twice) in.reject("scalar-twice", "'{}' is given twice", name);
    const Shape& shape = in.shape(tensors + i);
    if (elements_of(shape) != 1) in.reject("scalar-shape", "'{}' has shape {}; it is one element", name, to_string(shape));
  }
}

std::optional<double> scalar_value(const Evaluation& e, std::string_view name, std::size_t tensors) {
  if (const auto i = scalar_operand(e.attributes(), name, tensors)) return e.operand(*i).number(0);
  if (e.attributes().has(name)) return e.attributes().number(name);
  return std::nullopt;
}

}  // namespace pando::ir
