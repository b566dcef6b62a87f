// What normalisations share.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// (x - mean) times scale, with scale = 1 / sqrt(variance + epsilon), all of type `wide`.
struct Normalised {
  ValueId y, mean, scale;
};
Normalised normalised(Context& c, ValueId x, const Ints& axes, double epsilon, DType wide);
// Axes from `first` on.
Ints axes_from(std::int64_t first, std::size_t rank);
// float32, or float64 of such.
DType wide_float(DType dtype);
// The type that the attribute 'stash_type' says statistics are computed in.
DType stash_type(const Context& c);

}  // namespace pando::onnx
