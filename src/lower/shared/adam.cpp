#include "lower/shared/adam.h"

#include "lower/shared/expressions.h"
#include "lower/terms/element_types.h"

#include <popops/ElementWise.hpp>

#include <algorithm>
#include <vector>

namespace pando::lower {

using poplar::Tensor;

namespace {

Any as_float(const Any& x, poplar::Type type) { return type == poplar::FLOAT ? x : Any(pe::Cast(x, poplar::FLOAT)); }

Any operand(OpLowering& o, Formula& f, std::size_t i) { return as_float(f.operand(i), element_type(o.operand_type(i).dtype)); }

Any scalar(OpLowering& o, Formula& f, std::string_view name, double otherwise) {
  if (const auto i = o.scalar_operand(name)) {
    const Tensor t = o.operand(*i).reshape({});
    return as_float(f.tensor(t), t.elementType());
  }
  return pe::Const(static_cast<float>(o.attributes().number(name, otherwise)));
}

std::optional<std::size_t> present(OpLowering& o, const std::string& name) {
  const ir::AttributeValue* listed = o.attributes().find("present");
  if (listed == nullptr) return std::nullopt;
  const auto& names = std::get<ir::Strings>(*listed);
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return 2 + static_cast<std::size_t>(it - names.begin());
}

// Counts the step; and 1 / (1 - beta^step) for each beta: once, as a division of every element costs as much as the rest of the update.
std::vector<Tensor> corrections(OpLowering& o, const Tensor& time, const std::vector<std::string_view>& betas) {
  const Tensor step = time.reshape({});
  const pe::Const one(1.0f);
  std::vector<Tensor> tensors{step}, outs{step};
  std::vector<Any> results{pe::Add(pe::_1, pe::Const(1))};
  Any counted = results[0];
  // What is rounded when it is stored is read from there.
  if (step.elementType() != poplar::FLOAT) {
    popops::mapInPlace(o.graph(), results[0], {step}, o.program(), o.name() + "/step");
    counted = as_float(pe::_1, step.elementType());
    results.clear(), outs.clear();
  }
  for (const std::string_view beta : betas) {
    Any base = pe::Const(static_cast<float>(o.attributes().number(beta, 0)));
    if (const auto i = o.scalar_operand(beta)) {
      tensors.push_back(o.operand(*i).reshape({}));
      base = as_float(pe::PlaceHolder(static_cast<unsigned>(tensors.size())), tensors.back().elementType());
    }
    results.push_back(pe::Divide(one, pe::Sub(one, pe::Pow(base, counted))));
    outs.push_back(o.graph().clone(poplar::FLOAT, step, o.name() + "/" + std::string(beta)));
  }
  popops::mapWithOutput(o.graph(), results, tensors, outs, o.program(), o.name() + "/step");
  return {outs.end() - static_cast<std::ptrdiff_t>(betas.size()), outs.end()};
}

}  // namespace

Any adam_formula(OpLowering& o, Formula& f, bool max_norm) {
  const auto weight = present(o, "weight"), step = present(o, "time_step");
  Any first = operand(o, f, 0), second = operand(o, f, 1);
  if (step) {
    const Tensor time = o.take(*step);
    o.result_taken(1, *step);
    const std::vector<Tensor> factors =
        corrections(o, time, max_norm ? std::vector<std::string_view>{"beta1"} : std::vector<std::string_view>{"beta1", "beta2"});
    first = pe::Mul(first, f.tensor(factors[0]));
    if (!max_norm) second = pe::Mul(second, f.tensor(factors[1]));
  }
  const Any norm = pe::Add(max_norm ? second : Any(pe::Sqrt(second)), scalar(o, f, "epsilon", 1e-7));
  Any update = pe::Divide(first, norm);
  if (weight && (o.scalar_operand("weight_decay") || o.attributes().number("weight_decay", 0) != 0)) {
    update = pe::Add(update, pe::Mul(scalar(o, f, "weight_decay", 0), operand(o, f, *weight)));
  }
  const poplar::Type type = element_type(o.result_type().dtype);
  return type == poplar::FLOAT ? update : Any(pe::Cast(update, type));
}

}  // namespace pando::lower
