#include "lower/shared/float8.h"

#include "ir/types/value_form.h"
#include "lower/shared/expressions.h"

#include <fmt/format.h>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/Util.hpp>

namespace pando::lower {

using poplar::Tensor;

namespace {

Tensor metadata(OpLowering& o, ir::DType format) {
  const auto f = format == ir::DType::float8_143 ? poplar::QuarterMetadata::Format::F143 : poplar::QuarterMetadata::Format::F152;
  return poputil::createConstantMetadataTensor(o.graph(), f, 0);
}

void stop_if_outside(OpLowering& o, const Tensor& scale) {
  const Any outside = pe::Or(pe::Lt(pe::_1, pe::Const(-32)), pe::Gt(pe::_1, pe::Const(31)));
  const Tensor wrong = popops::map(o.graph(), pe::Cast(outside, poplar::INT), {scale}, o.program(), o.name() + "/outside");
  const std::string at = o.module().location_text(o.op());
  o.program().add(poplar::program::AbortOnCondition(
      wrong.reshape({1}), fmt::format("{} '{}': log2_scale is not in the range from -32 to 31{}{}", o.module().row(o.op()).name, o.name(),
                                      at.empty() ? "" : ", at ", at)));
}

}  // namespace

// The exponent's bits: exact for every scale that float8 tensors have.
Tensor power_of_two(OpLowering& o, std::size_t i) {
  o.need(Library::popops);
  const Tensor scale = o.operand(i).reshape({});
  if (o.settings().flag("check_float8_scales")) stop_if_outside(o, scale);
  const Any bits = pe::Mul(pe::Add(pe::_1, pe::Const(127)), pe::Const(1 << 23));
  return popops::map(o.graph(), bits, {scale}, o.program(), o.name() + "/scale").reinterpret(poplar::FLOAT);
}

Tensor float8_decoded(OpLowering& o, std::size_t i, const poplar::Type& type) {
  o.need(Library::popops);
  const Tensor t = o.operand(i);
  const Tensor quarters = o.graph().clone(poplar::QUARTER, metadata(o, o.operand_type(i).dtype), t, o.name() + "/quarters");
  o.program().add(poplar::program::Copy(t, quarters.reinterpret(poplar::UNSIGNED_CHAR), false, o.name()));
  return popops::cast(o.graph(), quarters, type, o.program(), o.name() + "/decoded");
}

Tensor float8_encoded(OpLowering& o, const Tensor& t, ir::DType format) {
  o.need(Library::popops);
  const Tensor bytes = popops::cast(o.graph(), t, poplar::QUARTER, metadata(o, format), o.program(), o.name() + "/encoded")
                           .reinterpret(poplar::UNSIGNED_CHAR);
  // Tiles have no cast that makes NaN of what is too large.
  const float limit = float8_overflow(ir::value_form_of(format).format);
  const Any fits = pe::And(pe::IsFinite(pe::_2), pe::Lt(pe::Abs(pe::_2), pe::Const(limit)));
  return popops::map(o.graph(), pe::Select(pe::_1, pe::Const(static_cast<unsigned char>(0x80)), fits), {bytes, t}, o.program(), o.name());
}

}  // namespace pando::lower
