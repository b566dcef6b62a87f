#include "lower/shared/reductions.h"

#include "lower/terms/moving.h"

#include "lower/terms/element_types.h"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Epilogue.hpp>
#include <popops/Reduce.hpp>
#include <poputil/Broadcast.hpp>

#include <algorithm>

namespace pando::lower {

using poplar::Tensor;

std::vector<std::size_t> reduced_axes(OpLowering& o) {
  const ir::Ints& axes = o.attributes().ints("axis");
  return {axes.begin(), axes.end()};
}

poplar::Type wide_type(ir::DType t) { return t == ir::DType::float16 ? poplar::FLOAT : element_type(t); }

Tensor widened(OpLowering& o, const Tensor& t) {
  o.need(Library::popops);
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

namespace {

popops::ReduceParams params_of(OpLowering& o, popops::Operation operation, double scale) {
  if (scale == 1) return popops::ReduceParams(operation);
  const Tensor factor = o.graph().addConstant(poplar::FLOAT, {}, static_cast<float>(scale), o.name() + "/scale");
  o.graph().setTileMapping(factor, 0);
  return popops::ReduceParams(operation, false, factor);
}

}  // namespace

Tensor reduced(OpLowering& o, const Tensor& t, popops::Operation operation, const poplar::Type& type, double scale) {
  const Tensor from = widened(o, t);
  const bool narrow = from.elementType() != t.elementType();
  const popops::ReduceParams params = params_of(o, operation, scale);
  const Tensor sum = popops::reduce(o.graph(), from, narrow ? poplar::INT : type, reduced_axes(o), params, o.program(), o.name());
  return narrow ? popops::cast(o.graph(), sum, type, o.program(), o.name()) : sum;
}

bool finish_reduced(OpLowering& o, Epilogue& e, popops::Operation operation, double scale) {
  o.need(Library::popops);
  const Tensor from = o.operand(0);
  const auto shape = extents(o.result_type().shape), axes = reduced_axes(o);
  std::vector<std::size_t> left;
  for (std::size_t d = 0; d < from.rank(); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) left.push_back(from.dim(static_cast<unsigned>(d)));
  popops::Epilogue epilogue{e.results, {}, e.product};
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    Tensor t = e.operands[i];
    if (i != e.product && t.numElements() != 1) poputil::broadcastToMatch(t, shape);
    // A number may have more dimensions than the result.
    if (i != e.product) t = t.reshape(t.numElements() == 1 ? std::vector<std::size_t>() : left);
    epilogue.operands.push_back(t);
  }
  std::vector<Tensor> outs;
  for (const Tensor& t : e.outs) outs.push_back(t.valid() ? t.reshape(left) : t);
  const poplar::Type type = element_type(o.result_type().dtype);
  if (!popops::reduceWithEpilogue(o.graph(), from, type, axes, params_of(o, operation, scale), epilogue, outs, o.program(), o.name()))
    return false;
  for (std::size_t r = 0; r < outs.size(); ++r) e.outs[r] = outs[r].reshape(shape);
  return true;
}

Tensor reduced_and(OpLowering& o, const Tensor& t, popops::Operation operation, const poplar::Type& type, const Any& then,
                   const std::vector<Tensor>& others) {
  o.need(Library::popops);
  popops::Epilogue epilogue{{then}, {Tensor()}, 0};
  epilogue.operands.insert(epilogue.operands.end(), others.begin(), others.end());
  std::vector<Tensor> outs(1);
  const bool floats = ir::is_floating(o.operand_type(0).dtype);
  if (floats && o.settings().flag("fuse") && o.settings().flag("epilogues") &&
      popops::reduceWithEpilogue(o.graph(), t, type, reduced_axes(o), params_of(o, operation, 1), epilogue, outs, o.program(), o.name()))
    return outs[0];
  epilogue.operands[0] = reduced(o, t, operation, type);
  return popops::map(o.graph(), then, epilogue.operands, o.program(), o.name());
}

void lower_extreme_positions(OpLowering& o, ExtremePositions find) {
  o.need(Library::popnn);
  const auto dim = static_cast<unsigned>(o.attributes().integer("dim"));
  Tensor t = widened(o, o.operand(0));
  t = with_whole_rows(o, t.dimRoll(dim, t.rank() - 1));
  const std::size_t n = t.dim(t.rank() - 1);
  const Tensor positions = find(o.graph(), t.reshape({t.numElements() / n, n}), o.program(), o.name());
  o.result(0, positions.reinterpret(poplar::INT));
}

}  // namespace pando::lower
