// From the arguments of the public functions to a checked problem and its plan.
#pragma once

#include <poplin/MatMul.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "poplibs/poplin/matmul/product.h"
#include "poplibs/poplin/matmul/terms/plan.h"

namespace poplin::internal::matmul {

using Shape = std::vector<std::size_t>;

// Shapes of rank 3. Throws poplibs_error, naming `function`, if they do not fit or a type is none of a product's.
Problem problem_of(const std::string& function, const poplar::Type& input, const poplar::Type& output, const Shape& a, const Shape& b,
                   const poplar::OptionFlags& options);

// From the cache, if there is one and it has it. The problem has elements.
ProductPlan plan_of(const Problem& problem, const poplar::Target& target, poplin::PlanningCache* cache, Pass pass = Pass::forward);

}  // namespace poplin::internal::matmul
