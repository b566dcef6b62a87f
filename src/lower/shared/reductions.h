// Reductions over the attribute "axis".
#pragma once

#include "lower/parts/op_lowering.h"

#include <popops/Operation.hpp>

namespace pando::lower {

// Operand 0 (or `t`) reduced over the op's axes; no dimension is left of them. Types without a reduction go through int.
poplar::Tensor reduced(OpLowering& o, const poplar::Tensor& t, popops::Operation operation, const poplar::Type& type, double scale = 1);
// Row::finish of ops that are one reduction of floats or halfs to their own type.
bool finish_reduced(OpLowering& o, Epilogue& epilogue, popops::Operation operation, double scale = 1);
// As `reduced`, and an expression of the sums (placeholder 1) and of others of their shape: one pass, unless epilogues are off.
poplar::Tensor reduced_and(OpLowering& o, const poplar::Tensor& t, popops::Operation operation, const poplar::Type& type, const Any& then,
                           const std::vector<poplar::Tensor>& others = {});
std::vector<std::size_t> reduced_axes(OpLowering& o);
// The reduced tensor beside the operand: its dimensions with length 1.
poplar::Tensor beside_operand(OpLowering& o, const poplar::Tensor& t);
// Float for half: what is computed with before it is rounded.
poplar::Type wide_type(ir::DType t);
// Integers that are smaller than int, and booleans, as int: libraries have no reductions, orders or positions of them.
poplar::Tensor widened(OpLowering& o, const poplar::Tensor& t);
// `t` in the type of result i.
poplar::Tensor as_result(OpLowering& o, const poplar::Tensor& t, std::size_t i = 0);

// Where the largest or the least element along attribute "dim" lies: `find` is popnn::argMax or popnn::argMin.
using ExtremePositions = poplar::Tensor (*)(poplar::Graph&, const poplar::Tensor&, poplar::program::Sequence&, const poplar::DebugContext&);
void lower_extreme_positions(OpLowering& o, ExtremePositions find);

}  // namespace pando::lower
