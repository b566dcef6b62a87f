#include "lower/row.h"

#include "lower/terms/element_types.h"

#include <algorithm>

namespace pando::lower {

using ir::DType;
using ir::OpId;
using poplar::Tensor;
namespace pe = popops::expr;

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

Any Expression::number(DType dtype, double value) const { return constant_expression(ir::HostTensor::filled(dtype, {}, value)); }
Any Expression::number(double value) const { return number(operand_type(0).dtype, value); }

std::optional<std::size_t> Expression::scalar_operand(std::string_view name) const { return lower::scalar_operand(module_, op_, name); }

Any Formula::tensor(const Tensor& t) {
  leaves_.push_back({{}, t});
  return pe::PlaceHolder(static_cast<unsigned>(leaves_.size()));
}

std::optional<std::size_t> scalar_operand(const ir::Module& module, OpId op, std::string_view name) {
  const ir::AttributeValue* listed = module.attributes(op).find("scalars");
  if (listed == nullptr) return std::nullopt;
  const auto& names = std::get<ir::Strings>(*listed);
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  // Scalars are the last operands.
  return module.operands(op).size() - names.size() + static_cast<std::size_t>(it - names.begin());
}

}  // namespace pando::lower
