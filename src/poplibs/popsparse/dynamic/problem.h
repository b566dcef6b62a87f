// The problems of products and layers, checked.
#pragma once

#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/MatMulParams.hpp>

#include "poplibs/popsparse/dynamic/plan.h"

namespace popsparse {

// They throw poplibs_error, beginning with `function`, for more than one group and other types than FLOAT and HALF.
Problem problem_of(const char* function, const dynamic::MatMulParams& params, const poplar::Type& type);
Problem problem_of(const char* function, const dynamic::FullyConnectedParams& params, const poplar::Type& type);

}  // namespace popsparse
