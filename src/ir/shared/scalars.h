// Scalar parameters that a user gives as a number or as a tensor (accumulate_'s f, adam_updater's beta1).
//
// A number is an attribute of the parameter's name. A tensor is an operand behind the op's tensors; attribute "scalars" lists the names of
// the parameters that are operands, in order. A parameter that is neither is absent.
#pragma once

#include "ir/rows/define.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace pando::ir {

// Which operand a parameter is; `tensors`: how many operands come before the scalars.
std::optional<std::size_t> scalar_operand(const Attributes& attributes, std::string_view name, std::size_t tensors);

// Rejects (popart): operands behind the tensors that "scalars" does not name, names that are not of `allowed` or are given twice, operands
// of more than one element.
void check_scalars(const Inference& in, std::size_t tensors, std::initializer_list<std::string_view> allowed);

// The parameter's value, where it is given.
std::optional<double> scalar_value(const Evaluation& e, std::string_view name, std::size_t tensors);

}  // namespace pando::ir
