// What the quantised family shares.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// A scale or zero point beside data of `shape`: a number, one for each slice of an axis, or one for each block of it.
ValueId beside_data(Context& c, ValueId v, const Shape& shape, std::int64_t axis, std::int64_t block);
// round(x / scale) + zero, of float32, clipped to the type's range.
ValueId quantised(Context& c, ValueId x, ValueId scale, ValueId zero, DType to);
// Operand i as whole float32 numbers, without its zero point (operand `zero`, where it is given); both are of 8 bits.
ValueId whole_numbers(Context& c, std::size_t i, std::size_t zero, const std::function<ValueId(ValueId)>& beside);
// Least and largest value of an integer type of up to 32 bits.
std::pair<double, double> range_of(DType t);

}  // namespace pando::onnx
