#include "lower/shared/reductions.h"

#include "lower/shared/element_types.h"

#include <popops/Cast.hpp>
#include <popops/Reduce.hpp>

#include <algorithm>

namespace pando::lower {

using poplar::Tensor;

std::vector<std::size_t> reduced_axes(OpLowering& o) {
  const ir::Ints& axes = o.attributes().ints("axis");
  return {axes.begin(), axes.end()};
}

poplar::Type wide_type(ir::DType t) { return t == ir::DType::float16 ? poplar::FLOAT : element_type(t); }

Tensor widened(OpLowering& o, const Tensor& t) {
  o.lowering().need(Library::popops);
  const poplar::Type small[] = {poplar::BOOL, poplar::SIGNED_CHAR, poplar::UNSIGNED_CHAR, poplar::SHORT, poplar::UNSIGNED_SHORT};
  const bool narrow = std::find(std::begin(small), std::end(small), t.elementType()) != std::end(small);
  return narrow ? popops::cast(o.graph(), t, poplar::INT, o.program(), o.name() + "/wide") : t;
}

Tensor as_result(OpLowering& o, const Tensor& t, std::size_t i) {
  const poplar::Type type = element_type(o.result_type(i).dtype);
  return t.elementType() == type ? t : popops::cast(o.graph(), t, type, o.program(), o.name());
}

Tensor beside_operand(OpLowering& o, const Tensor& t) {
  auto shape = extents(o.operand_type(0).shape);
  for (std::size_t d : reduced_axes(o)) shape[d] = 1;
  return t.reshape(shape);
}

Tensor reduced(OpLowering& o, const Tensor& t, popops::Operation operation, const poplar::Type& type, double scale) {
  const Tensor from = widened(o, t);
  const bool narrow = from.elementType() != t.elementType();
  popops::ReduceParams params(operation);
  if (scale != 1) {
    const Tensor factor = o.graph().addConstant(poplar::FLOAT, {}, static_cast<float>(scale), o.name() + "/scale");
    o.graph().setTileMapping(factor, 0);
    params = popops::ReduceParams(operation, false, factor);
  }
  const Tensor sum = popops::reduce(o.graph(), from, narrow ? poplar::INT : type, reduced_axes(o), params, o.program(), o.name());
  return narrow ? popops::cast(o.graph(), sum, type, o.program(), o.name()) : sum;
}

}  // namespace pando::lower
