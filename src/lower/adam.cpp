#include "lower/adam.h"

#include "lower/element_types.h"
#include "lower/expressions.h"

#include <popops/ElementWise.hpp>

#include <algorithm>

namespace pando::lower {

using poplar::Tensor;

namespace {

// An expression with the tensors that it names.
struct Formula {
  std::vector<Tensor> tensors;

  // As float.
  Any use(const Tensor& t) {
    tensors.push_back(t);
    const Any place = pe::PlaceHolder(static_cast<unsigned>(tensors.size()));
    return t.elementType() == poplar::FLOAT ? place : Any(pe::Cast(place, poplar::FLOAT));
  }
  Any scalar(OpLowering& o, std::string_view name, double otherwise) {
    if (const auto i = o.scalar_operand(name)) return use(o.operand(*i).reshape({}));
    return pe::Const(static_cast<float>(o.attributes().number(name, otherwise)));
  }
};

std::optional<std::size_t> present(OpLowering& o, const std::string& name) {
  const ir::AttributeValue* listed = o.attributes().find("present");
  if (listed == nullptr) return std::nullopt;
  const auto& names = std::get<ir::Strings>(*listed);
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return 2 + static_cast<std::size_t>(it - names.begin());
}

// 1 - beta^step
Tensor correction(OpLowering& o, std::string_view beta, const Tensor& step) {
  Formula f;
  const Any base = f.scalar(o, beta, 0), exponent = f.use(step.reshape({}));
  return popops::map(o.graph(), pe::Sub(pe::Const(1.0f), pe::Pow(base, exponent)), f.tensors, o.program(), o.name() + "/" + std::string(beta));
}

}  // namespace

void update_by_adam(OpLowering& o, bool max_norm) {
  o.lowering().need(Library::popops);
  const auto weight = present(o, "weight"), step = present(o, "time_step");
  Formula f;
  Any first = f.use(o.operand(0)), second = f.use(o.operand(1));
  if (step) {
    const Tensor time = o.take(*step);
    popops::mapInPlace(o.graph(), pe::Add(pe::_1, pe::Const(1)), {time}, o.program(), o.name() + "/step");
    o.result_taken(1, *step);
    first = pe::Divide(first, f.use(correction(o, "beta1", time)));
    if (!max_norm) second = pe::Divide(second, f.use(correction(o, "beta2", time)));
  }
  const Any norm = pe::Add(max_norm ? second : Any(pe::Sqrt(second)), f.scalar(o, "epsilon", 1e-7));
  Any update = pe::Divide(first, norm);
  if (weight && (o.scalar_operand("weight_decay") || o.attributes().number("weight_decay", 0) != 0)) {
    update = pe::Add(update, pe::Mul(f.scalar(o, "weight_decay", 0), f.use(o.operand(*weight))));
  }
  const poplar::Type type = element_type(o.result_type().dtype);
  if (type != poplar::FLOAT) update = pe::Cast(update, type);
  o.result(0, popops::map(o.graph(), update, f.tensors, o.program(), o.name()));
}

}  // namespace pando::lower
