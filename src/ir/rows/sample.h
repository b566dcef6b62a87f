// Small cases of an op: conformance, gradient checks and fuzzing run them.
#pragma once

#include "ir/op_row.h"
#include "ir/types/attributes.h"

#include <vector>

namespace pando::ir {

// One small case: operand types with a range of values, attributes. Data are made from `seed`.
struct Sample {
  struct Operand {
    DType dtype = DType::float32;
    Shape shape;
    double low = -2, high = 2;
    // Not empty: the values themselves.
    Floats values;
  };
  std::vector<Operand> operands;
  Attributes attributes;
  bool in_place = false;
  // Whether the gradient check may use it (kinks and ties excluded).
  bool smooth = true;
};

std::vector<Sample> unary_samples();           // floats of -2 to 2 in several shapes, half and float
std::vector<Sample> positive_unary_samples();  // 0.1 to 4
std::vector<Sample> binary_samples();          // with broadcasting, floats and int32
std::vector<Sample> reduction_samples();       // attributes axes, keepdims

}  // namespace pando::ir
